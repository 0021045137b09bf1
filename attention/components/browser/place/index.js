import { adopt, tellBy } from "../shared/place.js"

export default function ({ data, setTriggerValue }) {
  tellBy((place) => setTriggerValue("place", place))
  adopt(data)
}
