/** One of the kinds of secrets in `secretLines`, as a user of another program would mask it. */
interface SecretKind {
  /** In the syntax of Rust's regex crate, with groups that stay. */
  readonly expression: string;
  /** The same as a pattern of Lua, which has neither alternatives nor counted repetitions. */
  readonly lua: string;
  /** With `${1}` for a group. What stands for the secret is what `redact` writes. */
  readonly to: string;
}

export const SECRETS: readonly SecretKind[] = [
  { expression: String.raw`(password=)\S+`, lua: '(password=)%S+', to: '${1}<:password:>' },
  {
    expression: String.raw`([?&]access_token=)[^&\s]+`,
    lua: '([?&]access_token=)[^&%s]+',
    to: '${1}<:query:>',
  },
  {
    expression: String.raw`(://[^:/\s]+:)[^@\s]+@`,
    lua: '(://[^:/%s]+:)[^@%s]+@',
    to: '${1}<:url-password:>@',
  },
  {
    expression: String.raw`\bAKIA[A-Z0-9]{16}\b`,
    lua: `%f[%w]AKIA${'[A-Z0-9]'.repeat(16)}%f[^%w]`,
    to: '<:aws-access-key-id:>',
  },
];
