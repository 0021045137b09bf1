import { adopt, tellBy } from "../shared/place.js"

/** @import { Standing } from "../shared/place.js"
    @import { Place, Send } from "../shared/message.js"
    @type {(given: { data: Standing, parentElement: Place, setTriggerValue: Send }) => void} */
export default function ({ data, parentElement, setTriggerValue }) {
  tellBy(parentElement, (place) => setTriggerValue("place", place))
  adopt(data)
}
