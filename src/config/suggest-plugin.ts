import { nearest } from '../sdk/nearest.ts';
import type { PluginKind } from '../sdk/plugin.ts';
import { pluginNames } from './registry.ts';

/** Names of products, protocols and the plugins of other programs, by the built-in plugin for them. */
const OTHER_NAMES: Readonly<Record<PluginKind, Readonly<Record<string, string>>>> = {
  collect: {
    http: 'hec splunk splunk_hec http_server webhook vector logplex',
    file: 'tail filelog files log docker kubernetes kubernetes_logs container containerd',
    stdin: 'console pipe',
    journald: 'journal journalctl systemd',
    exec: 'command process program script',
    syslog: 'relp rsyslog syslog_ng syslogng tcp udp socket',
    otlp: 'opentelemetry otel otlphttp otlp_http',
    kafka: 'redpanda',
    nats: 'jetstream nats_jetstream',
  },
  process: {
    redact: 'mask scrub secrets pii gitleaks sensitive',
    regex_mask: 'regex',
    entropy_mask: 'entropy',
    map: 'remap vrl mutate transform mapping bloblang modify record_transformer rename add_fields',
    parse: 'grok json logfmt nginx apache combined dissect parser cri',
    filter: 'drop route condition',
  },
  forward: {
    elasticsearch: 'opensearch elastic es bulk zincsearch openobserve',
    splunk_hec: 'splunk hec splunk_hec_logs',
    loki: 'grafana grafana_loki promtail',
    otlp: 'opentelemetry otel otlphttp otlp_http jaeger',
    datadog: 'datadog_logs dd',
    s3: 'aws_s3 aws minio r2 object_storage',
    syslog: 'relp rsyslog syslog_ng syslogng papertrail socket tcp udp',
    http: 'webhook slack teams pagerduty clickhouse victorialogs vector http_client https post',
    kafka: 'redpanda',
    nats: 'jetstream nats_jetstream',
    disk: 'file files local',
    stdout: 'console print debug',
    noop: 'null blackhole drop devnull',
  },
};

/** The plugin that an unknown name may stand for: the one for what it names, or one with a similar name. */
export function suggestPlugin(kind: PluginKind, name: string): string | undefined {
  const other = name.toLowerCase().replace(/[-\s]/g, '_');
  const found = Object.entries(OTHER_NAMES[kind]).find(([, names]) => names.split(' ').includes(other));
  return found?.[0] ?? nearest(name, pluginNames(kind));
}
