import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Restartable } from './restartable.ts';
import { serverFolder, startServer } from './start-server.ts';

export interface SyslogNg extends Restartable {
  /** The folder with its data. */
  readonly folder: string;
}

/** Starts syslog-ng: `skipWithout('syslog-ng')`. @param config makes its configuration, without `@version`, for its folder. */
export async function startSyslogNg(config: (folder: string) => string): Promise<SyslogNg> {
  const folder = serverFolder('syslog-ng');
  const own = (name: string) => join(folder, name);
  writeFileSync(own('syslog-ng.conf'), `@version: 3.38\n${config(folder)}\n`);
  const args = [
    ...['--foreground', '--no-caps', '--stderr', '--verbose', '--cfgfile', own('syslog-ng.conf')],
    ...['--persist-file', own('persist'), '--pidfile', own('pid'), '--control', own('control')],
  ];
  const server = await Restartable.start(() =>
    startServer('syslog-ng', args, /syslog-ng starting up/, { cwd: folder }),
  );
  return Object.assign(server, { folder });
}
