import { settle } from "./elements.js"

const LATER = 100 // milliseconds
const MARGIN = "100px"

/** Which of some elements are scrolled out of sight. Until the browser has looked, none is.
    @typedef {{ observer: IntersectionObserver, out: Set<Element> }} Sight
    @type {() => Sight} */
export function makeSight() {
  /** @type {Set<Element>} */
  const out = new Set()
  const look = (/** @type {IntersectionObserverEntry[]} */ entries) => {
    for (const { target, isIntersecting } of entries)
      if (isIntersecting) out.delete(target)
      else out.add(target)
  }
  return { out, observer: new IntersectionObserver(look, { rootMargin: MARGIN }) }
}

/** Looks at other elements from now on.
    @type {(sight: Sight, elements: Element[]) => void} */
export function watch({ observer, out }, elements) {
  observer.disconnect()
  out.clear()
  for (const element of elements) observer.observe(element)
}

/** Writes all where the numbers are new; else what is in sight, and all of it once nobody points
    elsewhere for a while.
    @type {(view: object, isNew: boolean, write: (all: boolean) => void) => void} */
export function writeInSight(view, isNew, write) {
  write(isNew)
  if (!isNew) settle(view, LATER, () => write(true))
}
