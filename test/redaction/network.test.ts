import { describe, expect, it } from '@jest/globals';
import { createRedactor } from '../../plugins/masks/redact-masking.ts';
import { RedactProcessConfig } from '../../plugins/process/redact.ts';

const redactor = createRedactor(RedactProcessConfig.parse({ plugin: 'redact', packs: ['pii/network'] }), {
  now: () => 0,
  onMask: () => {},
});

describe('a number in four parts is a version or a section', () => {
  it.each([
    'System.Data, Version=4.0.0.0, Culture=neutral, PublicKeyToken=b77a5c561934e089',
    '[assembly: AssemblyVersion("1.2.3.4")]',
    'FileVersion: 10.0.19.1',
    '"version": "1.2.3.4"',
    '{\\"productVersion\\":\\"1.2.3.4\\"}',
    '<version>1.2.3.4</version>',
    '<PackageReference Include="Dapper" Version="1.50.5.1" />',
    'agent version 1.2.3.4 started',
    'the version is 1.2.3.4',
    'ver. 1.2.3.4',
    'upgraded from version 1.2.3.4 to 1.2.3.5',
    'versions: [1.2.3.4, 1.2.3.5, 1.2.4.0]',
    'firmware 1.2.3.4 installed',
    'Oracle Database 11g Release 11.2.0.4',
    'build 1.2.3.4 of the agent',
    'rails==4.2.7.1',
    'nokogiri>=1.6.8.1',
    'gem "rails", "~> 4.2.7.1"',
    '    actionpack (4.2.11.3)',
    'Using activesupport 4.2.11.3',
    'Installing nokogiri 1.6.8.1 with native extensions',
    'Setting up libfoo (1.2.3.4) ...',
    'gem install rails -v 4.2.11.3',
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36',
    'Mozilla/5.0 (Windows NT 10.0) Gecko/1.8.1.2 Firefox/2.0.0.2',
    'user_agent="Chrome/49.0.26.87"',
    'MyApp/1.2.3.4 CFNetwork/1240.0.4 Darwin/20.6.0',
    'Dalvik/2.1.0 (Linux; U; Android 11) MyClient/3.4.5.6',
    '/root/.nuget/packages/dapper/1.50.5.1/lib/net45/Dapper.dll',
    'GET /repository/maven-public/org/acme/tool/1.2.3.4/tool.pom 200',
    'https://github.com/acme/tool/releases/download/1.2.3.4/tool.zip',
    'deployed 1.2.3.4-SNAPSHOT',
    'published 1.2.3.4-beta.1',
    'wrote 1.2.3.4.jar',
    'see section 3.1.2.4 of the manual',
    '§ 3.1.2.4',
    'OID 1.3.6.1',
  ])('%s', (text) => {
    expect(redactor.maskText(text)).toBe(text);
  });
});

describe('an IPv4 address is masked', () => {
  it.each([
    ['connected to kafka1/10.1.2.3:9092', 'connected to kafka1/<:ipv4:>:9092'],
    ['node kafka1/10.1.2.3 (id: 1)', 'node kafka1/<:ipv4:> (id: 1)'],
    ['http://10.1.2.3/version/2', 'http://<:ipv4:>/version/2'],
    ['src: /10.1.2.3:80', 'src: /<:ipv4:>:80'],
    ['root@10.1.2.3', 'root@<:ipv4:>'],
    ['ip.src == 10.1.2.3', 'ip.src == <:ipv4:>'],
    ['ip==10.1.2.3', 'ip==<:ipv4:>'],
    ['moved from 10.1.2.3 to 10.1.2.4', 'moved from <:ipv4:> to <:ipv4:>'],
    ['DHCP release 10.1.2.3', 'DHCP release <:ipv4:>'],
    ['driver 10.1.2.3:4040', 'driver <:ipv4:>:4040'],
    ['build 10.1.2.3:22 failed', 'build <:ipv4:>:22 failed'],
    ['server version 8.0 at 10.1.2.3', 'server version 8.0 at <:ipv4:>'],
    ['GET /hosts/10.1.2.3/status 200', 'GET /hosts/<:ipv4:>/status 200'],
    ['10.1.2.3 - - "GET / HTTP/1.1" 200 "Mozilla/5.0"', '<:ipv4:> - - "GET / HTTP/1.1" 200 "Mozilla/5.0"'],
    ['HTTP/1.1 10.1.2.3', 'HTTP/1.1 <:ipv4:>'],
    ['servers: [10.1.2.3, 10.1.2.4]', 'servers: [<:ipv4:>, <:ipv4:>]'],
    ['{"ip":"10.1.2.3","version":"1.2.3.4"}', '{"ip":"<:ipv4:>","version":"1.2.3.4"}'],
  ])('%s', (text, masked) => {
    expect(redactor.maskText(text)).toBe(masked);
  });
});

describe('colons of times, ratios and names make no IPv6 address', () => {
  it.each([
    '=INFO REPORT==== 10-Jul-2019::20:50:45 ===',
    '=SUPERVISOR REPORT==== 1-Jan-2026::00:00:01.123456 ===',
    '10/Jul/2019::20:50:45',
    '2019::20:50:45',
    '12:34:56::789',
    '16:9::4:3',
    'ab::cd:ef:12',
    'at ::20:50:45',
    'wwn 50:06:01:60:3b:a0:12:34',
  ])('%s', (text) => {
    expect(redactor.maskText(text)).toBe(text);
  });

  it.each([
    '2001:db8::1',
    '2001:db8::20:50:45',
    '2a00:1450:4001:81b::200e',
    'fe80::1ff:fe23:4567:890a',
    'fd12:3456:789a::1',
    'ff02::1:ff00:42',
    '64:ff9b::192.0.2.33',
    '::ffff:192.0.2.33',
    '2001:0db8:85a3:0000:0000:8a2e:0370:7334',
    'ABCD:EF01:2345:6789:ABCD:EF01:2345:6789',
  ])('%s is one', (address) => {
    expect(redactor.maskText(`from ${address} port 22`)).toBe('from <:ipv6:> port 22');
  });
});
