import {
  COLLECTION_STYLE,
  EVENT_ID,
  type Event,
  type MappingEvent,
  SCALAR_STYLE,
  type ScalarEvent,
  type SequenceEvent,
} from 'js-yaml';

/** Where a flow collection begins; a block collection's place is its key. */
export function flowOffset(event: SequenceEvent | MappingEvent): number | undefined {
  return event.style === COLLECTION_STYLE.FLOW ? event.start : undefined;
}

/** Where a scalar begins, its opening quote included; undefined for an empty one. */
export function scalarOffset(text: string, event: ScalarEvent): number | undefined {
  if (event.valueStart === -1) return undefined;
  if (event.style === SCALAR_STYLE.PLAIN) return event.valueStart;
  if (event.style === SCALAR_STYLE.SINGLE_QUOTED || event.style === SCALAR_STYLE.DOUBLE_QUOTED) {
    return event.valueStart - 1;
  }
  return event.valueStart + (/^\s*(?=\S)/.exec(text.slice(event.valueStart))?.[0].length ?? 0);
}

/** Where a value begins. */
export function eventOffset(text: string, event: Event | undefined): number | undefined {
  if (event?.type === EVENT_ID.SCALAR) return scalarOffset(text, event);
  if (event?.type === EVENT_ID.ALIAS) return event.anchorStart - 1;
  return event?.type === EVENT_ID.SEQUENCE || event?.type === EVENT_ID.MAPPING ? event.start : undefined;
}
