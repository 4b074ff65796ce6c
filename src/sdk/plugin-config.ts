import * as z from 'zod';

const base = () => z.strictObject({ plugin: z.string().min(1) });

/** Specification 2.3: what every collect plugin's configuration has. */
export const CollectConfigBase = base();
/** Specification 2.3: what every process plugin's configuration has. */
export const ProcessConfigBase = base();
/** Specification 2.3: what every forward plugin's configuration has. */
export const ForwardConfigBase = base();

export type PluginConfigBase = Readonly<{ plugin: string }>;
