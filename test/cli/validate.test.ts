import { describe, expect, it } from '@jest/globals';
import { folderWith, runCommand } from '../support/cli.ts';
import { countTo, THREE } from './configs.ts';

describe('millrace validate', () => {
  it('says what a good configuration holds, in one line on standard output', async () => {
    const cwd = folderWith({ 'p.yaml': THREE });
    expect(await runCommand(['validate', 'p.yaml'], { cwd })).toEqual({
      code: 0,
      stdout: 'p.yaml: valid: 3 pipelines (1 disabled), 1 collector, 1 processor, 1 forwarder\n',
      stderr: '',
    });
  });

  it('takes several files as one configuration', async () => {
    const [top, rest] = countTo(1).split('pipelines:');
    const cwd = folderWith({ 'a.yaml': top ?? '', 'b.yaml': `pipelines:${rest}` });
    const { code, stdout } = await runCommand(['validate', 'a.yaml', 'b.yaml'], { cwd });
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: 'a.yaml + b.yaml: valid: 1 pipeline, 1 collector, 0 processors, 1 forwarder\n',
    });
  });

  it('warns of what no pipeline uses, and accepts it', async () => {
    const cwd = folderWith({
      'p.yaml': THREE.replace('forwarders:', '  other: { plugin: test }\nforwarders:'),
    });
    const { code, stdout, stderr } = await runCommand(['validate', 'p.yaml'], { cwd });
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: 'p.yaml:6:3: warning: processors.other: no pipeline uses it\n',
    });
    expect(stdout).toMatch(/^p\.yaml: valid: /);
  });

  it('reports all problems with their places on standard error, and how many they are', async () => {
    const wrong = THREE.replace('interval', 'intervall').replace(
      'collect: numbers, process',
      'collect: nubmers, process',
    );
    const cwd = folderWith({ 'p.yaml': wrong });
    const { code, stdout, stderr } = await runCommand(['validate', 'p.yaml'], { cwd });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^p\.yaml:3:\d+: .*did you mean `interval`/m);
    expect(stderr).toMatch(/^p\.yaml:9:\d+: .*did you mean `numbers`/m);
    expect(stderr).toContain('\n2 errors.');
    expect(stderr).not.toContain('    at ');
  });

  it('names a file that is missing', async () => {
    const { code, stdout, stderr } = await runCommand(['validate', 'nowhere.yaml']);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('nowhere.yaml');
    expect(stderr).toContain('\n1 error.');
  });
});
