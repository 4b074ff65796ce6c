import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { foreignProgram } from '../../src/config/foreign-program.ts';
import { ROOT } from '../support/build.ts';
import { folderWith, runCommand } from '../support/cli.ts';
import { load, refusal } from './helpers.ts';

/** Configurations of other programs as users have them, with a name for the file. All hold `hunter2`. */
const FOREIGN: readonly (readonly [program: string, file: string, text: string])[] = [
  [
    'Vector',
    'vector.yaml',
    `data_dir: /var/lib/vector
api: { enabled: true }
sources:
  app:
    type: file
    include: [/var/log/app/*.log]
transforms:
  mask:
    type: remap
    inputs: [app]
    source: |
      . = parse_json!(.message)
      .password = redact(.password, filters: [r'.*'])
sinks:
  search:
    type: elasticsearch
    inputs: [mask]
    endpoints: ["https://search:9200"]
    auth: { strategy: basic, user: vector, password: hunter2 }
    buffer: { type: disk, max_size: 268435488 }
`,
  ],
  [
    'Vector',
    'tests.yaml',
    `sinks:
  out: { type: console, inputs: [in], encoding: { codec: json } }
tests:
  - name: hunter2
    inputs: [{ insert_at: in, value: hunter2 }]
`,
  ],
  [
    'Vector',
    'vector.toml',
    `# hunter2
data_dir = "/var/lib/vector"

[sources.app]
type = "file"
include = ["/var/log/app/*.log"]

[sinks."search-all"]
type = "elasticsearch"
inputs = ["app"]
auth.password = "hunter2"
`,
  ],
  [
    'Vector',
    'vector.json',
    '{"sources": {"in": {"type": "stdin"}}, "sinks": {"out": {"type": "http", "uri": "http://a:hunter2@b"}}}',
  ],
  [
    'Vector',
    'broken.yaml',
    'sources:\n  in:\n    type: stdin\nsinks:\n  out:\n    type: loki\n    labels: { app: {{ hunter2 }} }\n   inputs: [in]\n',
  ],
  [
    'Fluent Bit',
    'fluent-bit.conf',
    `[SERVICE]
    Flush        1
    storage.path /var/lib/fluent-bit

[INPUT]
    Name         tail
    Path         /var/log/app/*.log

[OUTPUT]
    Name         es
    Match        *
    HTTP_Passwd  hunter2
`,
  ],
  [
    'Fluent Bit',
    'included.conf',
    '@SET pw=hunter2\n\n[Filter]\n    Name  modify\n    Match *\n    Remove password\n',
  ],
  ['Fluent Bit', 'service.conf', '[SERVICE]\r\n    Flush 1\r\n    # hunter2\r\n@INCLUDE inputs.conf\r\n'],
  [
    'Fluent Bit',
    'parsers.conf',
    '[PARSER]\n    Name   app\n    Format regex\n    Regex  ^(?<hunter2>[^ ]*)$\n',
  ],
  [
    'Fluent Bit',
    'fluent-bit.yaml',
    `env: { flush: 1 }
service: { flush: "\${flush}", log_level: info }
pipeline:
  inputs:
    - name: tail
      path: /var/log/app/*.log
      processors:
        logs:
          - name: content_modifier
            action: delete
            key: hunter2
  outputs:
    - { name: stdout, match: '*' }
`,
  ],
  [
    'Logstash',
    'logstash.conf',
    `# hunter2
input {
  beats { port => 5044 }
}
filter {
  grok { match => { "message" => "%{COMBINEDAPACHELOG}" } }
}
output {
  elasticsearch { hosts => ["https://search:9200"] password => "hunter2" }
}
`,
  ],
  [
    'Logstash',
    'one-line.conf',
    'input { stdin { } } output { stdout { codec => rubydebug { metadata => true } } } # hunter2\n',
  ],
  [
    'Logstash',
    'filter.conf',
    'filter {\n  # hunter2\n  if [type] == "nginx" { mutate { remove_field => ["a"] } }\n}\n',
  ],
  [
    'the OpenTelemetry Collector',
    'otel.yaml',
    `receivers:
  otlp:
    protocols:
      http: { endpoint: "\${env:MY_POD_IP}:4318" }
processors:
  batch:
  attributes: { actions: [{ key: password, action: delete }] }
exporters:
  otlphttp:
    endpoint: https://otel:4318
    headers: { authorization: hunter2 }
service:
  pipelines:
    logs: { receivers: [otlp], processors: [attributes, batch], exporters: [otlphttp] }
`,
  ],
  [
    'the OpenTelemetry Collector',
    'part.yaml',
    'processors: { batch: {} }\nservice:\n  pipelines:\n    logs/hunter2: { receivers: [otlp], exporters: [debug] }\n',
  ],
  [
    'Filebeat',
    'filebeat.yml',
    `filebeat.inputs:
  - type: filestream
    paths: [/var/log/*.log]
processors:
  - drop_fields: { fields: [password] }
output.elasticsearch: { hosts: ["search:9200"], password: hunter2 }
`,
  ],
  [
    'Promtail',
    'promtail.yaml',
    `server: { http_listen_port: 9080 }
positions: { filename: /tmp/positions.yaml }
clients: [{ url: "http://a:hunter2@loki:3100/loki/api/v1/push" }]
scrape_configs:
  - job_name: system
    static_configs: [{ targets: [localhost], labels: { __path__: /var/log/*log } }]
`,
  ],
  [
    'Grafana Alloy',
    'config.alloy',
    `loki.source.file "logs" {
  targets    = local.file_match.logs.targets
  forward_to = [loki.write.default.receiver]
}
loki.write "default" {
  endpoint { url = "http://a:hunter2@loki:3100/loki/api/v1/push" }
}
`,
  ],
  [
    'Redpanda Connect',
    'connect.yaml',
    'input:\n  stdin: {}\npipeline:\n  processors:\n    - mapping: root.a = "hunter2"\noutput:\n  stdout: {}\n',
  ],
  [
    'Fluentd',
    'fluent.conf',
    '<source>\n  @type tail\n  path /var/log/app.log\n</source>\n<match hunter2.**>\n  @type stdout\n</match>\n',
  ],
  [
    'Telegraf',
    'telegraf.conf',
    '[agent]\n  interval = "10s"\n[[inputs.tail]]\n  files = ["/var/log/hunter2"]\n',
  ],
  [
    'syslog-ng',
    'syslog-ng.conf',
    '@version: 3.38\n@include "scl.conf"\nsource s_local { system(); };\nlog { source(s_local); }; # hunter2\n',
  ],
  [
    'rsyslog',
    'rsyslog.conf',
    '# hunter2\nmodule(load="imfile")\ninput(type="imfile" file="/var/log/app.log" tag="app")\n*.* @@logs:514\n',
  ],
  ['rsyslog', 'old.conf', '$ModLoad imuxsock\n$WorkDirectory /var/spool/hunter2\nauth.* /var/log/auth.log\n'],
];

/** Files that are ours, with errors too, and files of other kinds. */
const OTHERS: readonly (readonly [what: string, text: string])[] = [
  [
    'names of Vector with plugins of ours',
    'sources:\n  a: { plugin: stdin }\nsinks:\n  b: { plugin: stdout }\n',
  ],
  [
    'names of the OpenTelemetry Collector with plugins of ours',
    'receivers: { a: { plugin: stdin } }\nprocessors: {}\n',
  ],
  [
    'a part of ours beside one of Vector',
    'sources: { a: { type: file } }\nforwarders: { b: { plugin: stdout } }\n',
  ],
  [
    'exporters among sections of ours',
    'collectors: {}\nexporters: { b: { plugin: stdout } }\npipelines: {}\n',
  ],
  [
    'ours with an error of YAML, and lines of other programs in it',
    'collectors:\n  a: {plugin: test\ntests:\n  x: |\n[INPUT]\n[sources.a]\n',
  ],
  ['only processors', 'processors: { a: { plugin: redact } }\n'],
  ['only tests', 'tests: { a: { collect: { log: ["[INPUT]", "input { stdin { } }"] } } }\n'],
  ['a file of tests', 'config: a.yaml\nenv: { A: 1 }\ntests: {}\n'],
  ['Alertmanager', 'route: { receiver: a }\nreceivers:\n  - name: a\n'],
  ['Prometheus', 'global: { scrape_interval: 15s }\nscrape_configs: [{ job_name: a }]\n'],
  ['Docker Compose', 'services: { app: { image: a } }\nvolumes: {}\n'],
  ['a unit of systemd', '[Unit]\nDescription=a\n[Service]\nExecStart=/usr/bin/input\n'],
  ['PHP', '[PHP]\nengine = On\n[filter]\n; name of it\n;filter.default = unsafe_raw\n'],
  ['TOML with a section of Fluent Bit', '[output]\nname = "a"\nflush = 1\n'],
  ['HTML', '<picture>\n  <source srcset="a.svg">\n  <img alt="a">\n</picture>\n'],
  [
    'fontconfig',
    '<fontconfig>\n  <match target="font">\n    <test name="family"/>\n  </match>\n</fontconfig>\n',
  ],
  ['nginx', 'events { }\nhttp {\n  server { listen 80; }\n  output_buffers 1 32k;\n}\n'],
  ['a Kubernetes service', 'apiVersion: v1\nkind: Service\nspec: { ports: [] }\nservice: a\npipeline: b\n'],
  ['a pipeline of GitLab', 'stages: [a]\npipeline: { stage: a }\ninput: a\noutput: b\n'],
  ['TOML', '[package]\nname = "sources"\n[[bin]]\nname = "a"\n'],
  ['a log', '2026-01-01 [INPUT] read\ninput {"a": 1}\noutput done\n'],
  ['an unfinished file', '{"sources": {'],
  ['deep nesting', '['.repeat(100_000)],
  ['many comments', `input { ${'#'.repeat(100_000)}`],
  ['many lines', `sources:\n${'  a\n'.repeat(100_000)}`],
  ['white space after a section', `[INPUT]\n${'\n'.repeat(100_000)}`],
  ['white space', '\n \t'.repeat(100_000)],
  ['nothing', ''],
];

describe('a configuration of another program', () => {
  it.each(FOREIGN)('of %s is named: %s', async (program, _, text) => {
    const message = await refusal(text);
    expect(message).toMatch(/^<dir>\/c\.yaml: this is a configuration of [^\n]*$/);
    expect(message).toContain(`of ${program}, not of millrace; https://`);
    expect(message).toMatch(/docs\/coming-from\.md(?:#[a-z-]+)? /);
    expect(message).not.toContain('hunter2');
  });

  it.each(['validate', 'run', 'graph', 'test'])(
    'is one error for each file in millrace %s',
    async (command) => {
      const files = FOREIGN.map(([, file]) => file);
      const cwd = folderWith(Object.fromEntries(FOREIGN.map(([, file, text]) => [file, text])));
      const { code, stdout, stderr } = await runCommand([command, ...files], { cwd });
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).not.toContain('hunter2');
      for (const file of files) expect(stderr.split(`${file}: this is a configuration of `)).toHaveLength(2);
      expect(stderr.match(/^\S+: /gm)).toHaveLength(files.length);
    },
  );

  it('is named with its heading in docs/coming-from.md, whose blocks are recognised', () => {
    const page = readFileSync(join(ROOT, 'docs/coming-from.md'), 'utf8');
    const sections = page.split(/^## /m).map((section) => ({
      anchor: section.split('\n', 1)[0]?.toLowerCase().replaceAll(' ', '-'),
      blocks: [...section.matchAll(/^```(?:yaml foreign|text)\n(.*?)^```$/gms)].map(([, text = '']) => text),
    }));
    for (const anchor of ['vector', 'fluent-bit', 'logstash', 'opentelemetry-collector']) {
      const [first = ''] = sections.find((section) => section.anchor === anchor)?.blocks ?? [];
      expect(foreignProgram(first)).toContain(`/docs/coming-from.md#${anchor} `);
    }
    const others = sections.find(({ anchor }) => anchor === 'other-jobs')?.blocks ?? [];
    for (const block of others) expect(foreignProgram(block)).toBeDefined();
  });
});

describe('a file that is not one of another program', () => {
  it.each(OTHERS)('is not taken for one: %s', (_, text) => {
    expect(foreignProgram(text)).toBeUndefined();
  });

  it('is loaded, whatever its names and values look like', async () => {
    const { config } = await load(`
collectors:
  sources: { plugin: test, count: 1 }
processors:
  filter: { plugin: regex_mask, rules: { INPUT: '\\[INPUT\\]' } }
forwarders:
  sinks: { plugin: noop }
pipelines:
  service: { collect: sources, process: filter, forward: sinks }
host_config: {}
`);
    expect(Object.keys(config.pipelines)).toEqual(['service']);
  });
});
