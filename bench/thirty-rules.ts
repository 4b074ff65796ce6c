import { THREE_RULES } from './log-generator.ts';

const raw = String.raw;

/** What a company masks in its logs: keys of clouds and services, tokens, cards, phone numbers, addresses. */
export const THIRTY_RULES: Readonly<Record<string, string>> = {
  ...THREE_RULES,
  AWS_KEY_ID: raw`\b(?:AKIA|ASIA)[0-9A-Z]{16}\b`,
  AWS_SECRET: raw`(?i)aws_?secret_?(?:access_?)?key["']?\s*[=:]\s*["']?[A-Za-z0-9/+]{40}`,
  GOOGLE_KEY: raw`\bAIza[0-9A-Za-z_-]{35}`,
  AZURE_KEY: raw`(?<=AccountKey=)[A-Za-z0-9+/]{86}==`,
  GITHUB: raw`\bgh[pousr]_[A-Za-z0-9]{36,}`,
  GITLAB: raw`\bglpat-[\w-]{20,}`,
  SLACK: raw`\bxox[abprs]-[0-9A-Za-z-]{10,}`,
  SLACK_HOOK: raw`https://hooks\.slack\.com/services/[A-Za-z0-9/]+`,
  STRIPE: raw`\b[rs]k_(?:live|test)_[0-9A-Za-z]{24,}`,
  NPM: raw`\bnpm_[A-Za-z0-9]{36}\b`,
  SENDGRID: raw`\bSG\.[\w-]{22}\.[\w-]{43}`,
  TWILIO: raw`\b(?:AC|SK)[0-9a-f]{32}\b`,
  JWT: raw`\beyJ[\w-]+\.eyJ[\w-]+\.[\w-]+`,
  PRIVATE_KEY: raw`-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?-----END [A-Z ]*PRIVATE KEY-----`,
  BEARER: raw`(?i)(?<=\bbearer )[\w.~+/=-]+`,
  BASIC: raw`(?i)(?<=\bbasic )[A-Za-z0-9+/]{8,}={0,2}`,
  PASSWORD: raw`(?i)(?<=(?:password|passwd|pwd)["']?[=:] ?["']?)[^\s"'&]+`,
  URL_TOKEN: raw`(?<=[?&](?:token|api_key|signature)=)[\w.-]+`,
  URL_LOGIN: raw`(?<=://)[^\s/:@]+:[^\s/@]+(?=@)`,
  CARD: raw`\b(?:4\d{3}|5[1-5]\d{2}|3[47]\d{2}|6011)(?:[ -]?\d{4}){3}\b`,
  IBAN: raw`\b[A-Z]{2}\d{2}(?: ?[0-9A-Z]{4}){3,7}(?: ?[0-9A-Z]{1,3})?\b`,
  SSN: raw`\b\d{3}-\d{2}-\d{4}\b`,
  PHONE: raw`\+\d{1,3}[ -]?\(?\d{2,4}\)?(?:[ -]?\d{2,4}){2,3}\b`,
  PHONE_US: raw`\(\d{3}\) ?\d{3}-\d{4}\b`,
  MAC: raw`\b(?:[0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}\b`,
  IPV6: raw`\b(?:[0-9a-f]{1,4}:){7}[0-9a-f]{1,4}\b`,
  STREET: raw`\b\d{1,5} [A-Z][a-z]+ (?:Street|St|Avenue|Ave|Road|Rd|Lane|Ln)\b`,
};
