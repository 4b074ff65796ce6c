import { engine } from './engine.ts';
import { entropy } from './entropy.ts';
import { files } from './files.ts';
import { gateway } from './gateway.ts';
import { http } from './http.ts';
import { inProcess } from './in-process.ts';
import { kafka } from './kafka.ts';
import { latency } from './latency.ts';
import { mainJob } from './main-job.ts';
import { filter, metrics, stdin } from './main-job-ways.ts';
import { memory } from './memory.ts';
import { micro } from './micro.ts';
import { nats } from './nats.ts';
import type { Part } from './part.ts';
import { redact } from './redact.ts';
import { rules } from './rules.ts';
import { start } from './start.ts';
import { access, packs, structured } from './structured.ts';
import { virtualTime } from './virtual-time.ts';

/** All parts, in the order in which they run. */
export const PARTS: readonly Part[] = [
  mainJob,
  stdin,
  filter,
  metrics,
  structured,
  access,
  packs,
  redact,
  rules,
  engine,
  entropy,
  memory,
  latency,
  http,
  gateway,
  nats,
  kafka,
  start,
  virtualTime,
  micro,
  inProcess,
  files,
];
