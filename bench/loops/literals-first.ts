import { threeRulesByHand } from '../hand-loops.ts';
import type { EventLoop } from './event-loop.ts';
import { speltEvents } from './spelt-events.ts';

/** {@link threeRulesByHand} over the whole text: as far as one goes who tunes three rules by hand. */
export const literalsFirst: EventLoop = (text, source) => speltEvents(threeRulesByHand(text), source);
