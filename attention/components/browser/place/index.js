import { adopt, tellBy } from "../shared/place.js"

/** @import { Standing } from "../shared/place.js"
    @import { Send } from "../shared/message.js"
    @type {(given: { data: Standing, setTriggerValue: Send }) => void} */
export default function ({ data, setTriggerValue }) {
  tellBy((place) => setTriggerValue("place", place))
  adopt(data)
}
