import { describe, expect, it } from '@jest/globals';
import { createRedactor } from '../../plugins/masks/redact-masking.ts';
import { RedactProcessConfig } from '../../plugins/process/redact.ts';

const newRedactor = (
  config: object = {},
  onFind?: (found: { rule: string; start: number; end: number }) => void,
) =>
  createRedactor(RedactProcessConfig.parse({ plugin: 'redact', ...config }), {
    now: () => 0,
    onMask: () => {},
    onFind,
  });

function maskLines(text: string, redactor = newRedactor(), source = 'a.log'): string {
  redactor.startSource(source, 'started\n');
  redactor.maskLine(source, 'started');
  return text
    .split('\n')
    .map((line) => redactor.maskLine(source, line))
    .join('\n');
}

describe('a value whose key is in a line before', () => {
  it.each([
    ['name and value of YAML', '  - name: DB_PASSWORD\n    value: ⟦T2Pc^l2^1TtYa⟧'],
    ['name and value of JSON', '"Name": "DB_PASSWORD",\n"Value": "⟦Luna1962*⟧"'],
    ['in elements', '<property>\n  <name>a.ConnectionPassword</name>\n  <value>⟦Harbor$tige2001⟧</value>'],
    ['of a property list', '<key>Password</key>\n<string>⟦Hunter^plan369⟧</string>'],
    ['a block of YAML', 'password: |\n  ⟦Regen67U⟧\nuser: ada7x'],
    [
      'a block of several lines',
      'api_token: >-\n  ⟦ybR86QFb0FFJ0Tk38NGrdrAJOQyE⟧\n  ⟦ul5qu61oLHrp6sTx9Kd83mQpZ7Lw⟧\nname: x7Kd93Qa',
    ],
    [
      'a block as a value',
      '- name: JWT_SECRET\n  value: |\n    ⟦qd0h7igf3GjJJtvVheOO5XtBYPeQbC3SRBETIXtV0B⟧',
    ],
    ['an answer to a prompt', 'Username:\nada\nPassword:\n⟦Silver1973pd⟧'],
    ['a section', '[password]\n⟦Bananeze13uj⟧'],
    ['an assignment that goes on', "API_SECRET = \\\n    '⟦BBZ7SgoyzuALW3jk9q7Pkq9ky5t22rPa⟧'"],
    [
      'a field between a name and its value',
      '"Key": "SmtpPassword",\n"Description": "of the relay",\n"Value": "⟦EXA4kgpCzzjfd7wK⟧"',
    ],
    [
      'a value before a change and after it',
      'setting: smtp.password\nold: ⟦Rocketbu7968r⟧\nnew: ⟦Zebrasumm622s⟧',
    ],
    ['a value alone', 'db_password:\n  ⟦Ciao+amor358⟧\nuser: ada'],
    ['PHP', '  ["db_pass"]=>\n  string(9) "⟦Kiwi2021@⟧"'],
    [
      'a form',
      'Content-Disposition: form-data; name="api_token"\n\n⟦8f9c037fda7b4dd160fe7c43fd6c28fb64f78228⟧\n--x',
    ],
    ['an answer to a prompt of SMTP', 'S: 334 UGFzc3dvcmQ6\nC: ⟦QVUd5rmwJEX4/yoH⟧\nS: 235 ok'],
    ['CSV', 'id,user,password\n1,ada,⟦Kiwi-3YYNac⟧\n2,bob,"⟦guKf,Y30te⟧"\n3,eve,\ndone, all of them'],
    ['CSV with a row without a value', 'user,password\nbob,\nada,⟦Kiwi-3YYNac⟧'],
    ['CSV with a placeholder', 'user,password\nbob,changeme\nada,⟦Kiwi-3YYNac⟧'],
    ['CSV with an empty line and a comment', 'user,password\n\nada,⟦Kiwi-3YYNac⟧\n# two\neve,⟦Lunaroc1977⟧'],
    [
      'a drawn table with an empty cell',
      '| user | password |\n|---|---|\n| bob |  |\n| ada | ⟦Kiwi-3YYNac⟧ |',
    ],
    [
      'CSV of many rows',
      `user,password\n${Array.from({ length: 1200 }, (_, n) => `ada${n},⟦Kiwi-${n}YYNac⟧`).join('\n')}`,
    ],
    ['CSV with other separators', 'user;mot de passe\nada;⟦Lunaroc1977⟧'],
    ['an object over several lines', '"db_password": {\n  "type": "string",\n  "value": "⟦Silver2009GP⟧"\n}'],
    ['a field below a key', 'jwtSecret:\n  type: string\n  value: ⟦RoOluws2tBwB4lWwffCN807b74UQhW9⟧'],
    ['a default of HCL', 'variable "db_password" {\n  type    = string\n  default = "⟦Silver2009GP⟧"\n}'],
    ['an option in a list', 'args:\n  - --redis-password\n  - ⟦Regenf625⟧\n  - --verbose'],
    ['items of a list', 'passwords:\n  - ⟦Silver=^805⟧\n  - ⟦Nebel73^⟧\nuser: ada7x'],
    [
      'strings of an array',
      "const secret = [\n  '⟦vYvqfqKNV2I6Pa8v9ycQ8XfC⟧',\n  '⟦WIXUx3vVDx8EoX86oNhTJZhU⟧',\n];",
    ],
    ['a string in brackets', 'password = (\n    "⟦w1nt3r%2012⟧"\n)'],
    ['an element in another one', '<property name="password">\n    <value>⟦River86@⟧</value>\n</property>'],
    ['a value with an entity', '<key>WiFiPassword</key>\n  <string>⟦Falcon&#38;1e3SH⟧</string>'],
    ['a list of definitions', '<dt>API Key</dt>\n<dd>⟦dYMe0t4ZKlXQS65OKbMOdT0mi9rG5sr3⟧</dd>'],
    ['a string that goes on', 'secret: "⟦zteWdB3Nc28OBUscq6vr\\⟧\n  ⟦96IwyGCDZLKybe6r5bRQ⟧"'],
    ['strings that are joined', 'API_SECRET="⟦oiFPvwgEFYJ4ZUf3Y5tBs0MWSYPB2o⟧"\\\n"⟦T1WiQ36iFC⟧"'],
    ['folded LDIF', 'userPassword:: ⟦peSMHmd5pXCMoWoOkdSC/apzeWngDN4cwIA29ddC⟧\n ⟦SAB9KnuOWiWQ==⟧'],
    ['a heading', 'Temporary password\n------------------\n⟦nMoW2zJQwqZI⟧'],
    ['fields of a hash in Redis', '1) "password"\n2) "⟦Kiwi2021@⟧"\n3) "host"\n4) "db-7x"'],
    ['text of a shell', 'TOKEN=$(cat <<EOF\n⟦H4yJhiA8iDcCGb5zopCHIgBzM7cNFgPS⟧\nEOF'],
    ['the output of a command', '$ pass show basket/db\n⟦6iy@2btQCBIhBr⟧\n$ ls\nx7Kd93Qa'],
    ['codes', 'Recovery codes:\n  ⟦8uxwj-xfgyt⟧\n  ⟦528yx-ez043⟧'],
    ['users of chpasswd', 'chpasswd:\n  list: |\n    root:⟦Butterc45Ul⟧\n    ada:⟦Sunshine~somm2020⟧'],
    ['text for chpasswd', 'sudo chpasswd <<EOF\nroot:⟦Butterc45Ul⟧\nada:⟦Sunshine~somm2020⟧\nEOF'],
    [
      'a table with spaces',
      'Host      User    Password\ngraph-2   ada7x   ⟦Amoredr0487A⟧\ndb-1      eve     ⟦Kiwi-3YYNac⟧',
    ],
    ['columns with colons', 'email:password\nada7@example.org:⟦Mangoharb2009J⟧'],
    [
      'what Terraform generated',
      '"type": "random_password",\n"instances": [{\n"attributes": {\n"length": 16,\n"result": "⟦rR803fzkWCCvJ^7X⟧",',
    ],
    [
      'parameters with numbers',
      'DEBUG SQL - insert into users (login, password) values (?, ?)\nTRACE binding parameter [1] as [VARCHAR] - [ada7x]\nTRACE binding parameter [2] as [VARCHAR] - [⟦Sommerlamp91u⟧]',
    ],
    [
      'parameters in a list',
      "INSERT INTO users (login, password) VALUES (%s, %s)\n[generated in 0.00012s] ('ada7x', '⟦Amore.>556⟧')",
    ],
    [
      'parameters with types',
      '==>  Preparing: update user set password = ? where name = ?\n==> Parameters: ⟦Cactussun50U9⟧(String), ada7x(String)',
    ],
    ['a table', '| user | password |\n|------|----------|\n| ada  | ⟦Hunter2029⟧ |'],
  ])('is masked: %s', (_, marked) => {
    const expected = marked.replace(/⟦[^⟧]*⟧/g, '*');
    expect(maskLines(marked.replace(/[⟦⟧]/g, '')).replace(/<:[\w-]+:>/g, '*')).toBe(expected);
  });

  it.each([
    ['a line of a log after a prompt', 'Password:\n2026-01-01 INFO started x7Kd93'],
    ['a key without a value', 'password:\nuser: x7Kd93Qa'],
    ['another name', '- name: DB_PASSWORD\n- name: LOG_TARGET\n  value: x7Kd93Qa'],
    ['the field of another object', '"name": "password",\n"type": "string"\n"user": "x7Kd93Qa"'],
    ['words after a list', 'fields are user, password\nx, y7Kd93Qa'],
    ['a log with columns', 'WARN|auth|password\nINFO|http|request x7Kd93Qa'],
    ['what says how a login went', 'Password:\nAuthenticated\nReset your password:\nSettings'],
    ['a row with other columns', 'id,user,password\n1,ada\n2,bob,x7Kd93Qa'],
    ['a column alone', "'password',\n'welcome',"],
    ['a field of a structure', '\tPassword string\n\tFoo7x string'],
    ['a statement of code', 'pass\n\n@property7x'],
    ['parameters of other columns', 'update t set password = ? where id = ?\n["", "x7Kd93Qa"]'],
    [
      'pairs in place of parameters',
      'insert into t (login, password) values ($1, $2) [["login", "ada7x"], ["password", ""]]',
    ],
    ['a line of .pgpass', 'cat > ~/.pgpass <<EOF\ndb-3:5432:shop:ada7x:${PW}'],
    ['a command without a prompt', 'pass show is a command\nx7Kd93Qa'],
    ['what a schema says', '"max_tokens": {\n  "pattern": "^x7[a-z]+$"\n}'],
    ['a placeholder', 'password: |\n  ${PASSWORD}'],
  ])('is not taken for one: %s', (_, text) => {
    expect(maskLines(text)).toBe(text);
  });

  it('is masked in lines of the same source only', () => {
    const redactor = newRedactor();
    maskLines('db_password:', redactor, 'a.log');
    expect(maskLines('  Ciao+amor358', redactor, 'b.log')).toBe('  Ciao+amor358');
    expect(redactor.maskLine('a.log', '  Ciao+amor358')).toBe('  <:password:>');
  });

  it('is masked where lines are masked together', () => {
    const redactor = newRedactor();
    maskLines('', redactor);
    const many = redactor.many('a.log');
    expect(() => many?.map('x\ndb_password:\n  Ciao+amor358')).toThrow();
    redactor.maskLine('a.log', 'db_password:');
    expect(() => many?.map('  Ciao+amor358\nx')).toThrow();
    redactor.maskLine('a.log', '  Ciao+amor358');
    expect(many?.map('x\ny')).toBe('x\ny');
  });

  it('is reported where it is in its line', () => {
    const found: object[] = [];
    maskLines(
      'db_password:\n  Ciao+amor358',
      newRedactor({}, (finding) => found.push(finding)),
    );
    expect(found).toEqual([{ rule: 'secrets/context:password', start: 2, end: 14, field: 'line' }]);
  });

  it('is not looked for where lines come in any order', () => {
    const text = 'db_password:\n  Ciao+amor358';
    expect(maskLines(text, newRedactor({ blocks: false }))).toBe(text);
  });
});
