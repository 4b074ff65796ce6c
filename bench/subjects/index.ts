import { EVENTS } from './events.ts';
import { MASKS } from './masks.ts';
import { OPERATORS } from './operators.ts';

export const SUBJECTS = { ...MASKS, ...EVENTS, ...OPERATORS };
export type SubjectName = keyof typeof SUBJECTS;
