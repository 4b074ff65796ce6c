import { isIpv4, isIpv6, isMac } from './addresses.ts';
import {
  isBrazilianCnpj,
  isBrazilianCpf,
  isDutchBsn,
  isFrenchNir,
  isGermanTaxId,
  isIndianAadhaar,
  isIndianPan,
  isItalianCodiceFiscale,
  isPolishPesel,
  isSpanishDni,
  isSwedishPersonnummer,
  isUkNino,
  isUsSsn,
} from './national-ids.ts';
import { isBic, isCardNumber, isIban } from './payment.ts';
import { hasPhoneDigits, isPhoneNumber } from './phone.ts';
import {
  hasRandomCookie,
  hasToken,
  isBasicCredentials,
  isCommandArgument,
  isCredentials,
  isFlagValue,
  isInnerPassword,
  isLineValue,
  isPassword,
  isPhrase,
  isProsePassword,
  isSecret,
  isToken,
  isUserInfo,
} from './secret-value.ts';
import { hasCrc32Suffix, hasJwtHeader } from './tokens.ts';

/** Says of a value that an expression captured whether it is what its rule looks for. */
export type Check = (value: string, text: string, start: number) => boolean;

/** The checks that a rule of a pack can name. */
export const CHECKS: Readonly<Record<string, Check>> = {
  basic_credentials: isBasicCredentials,
  bic: isBic,
  br_cnpj: isBrazilianCnpj,
  br_cpf: isBrazilianCpf,
  card: isCardNumber,
  command_argument: isCommandArgument,
  cookies: hasRandomCookie,
  crc32: hasCrc32Suffix,
  credentials: isCredentials,
  de_tax_id: isGermanTaxId,
  es_dni: isSpanishDni,
  flag_value: isFlagValue,
  fr_nir: isFrenchNir,
  iban: isIban,
  in_aadhaar: isIndianAadhaar,
  in_pan: isIndianPan,
  inner_password: isInnerPassword,
  ipv4: isIpv4,
  ipv6: isIpv6,
  it_codice_fiscale: isItalianCodiceFiscale,
  jwt: hasJwtHeader,
  line_value: isLineValue,
  mac: isMac,
  nl_bsn: isDutchBsn,
  password: isPassword,
  phone: isPhoneNumber,
  phone_digits: hasPhoneDigits,
  phrase: isPhrase,
  pl_pesel: isPolishPesel,
  prose_password: isProsePassword,
  se_personnummer: isSwedishPersonnummer,
  secret: isSecret,
  token: isToken,
  token_list: hasToken,
  uk_nino: isUkNino,
  us_ssn: isUsSsn,
  user_info: isUserInfo,
};

/** Checks that judge a value which a key before it makes a secret: no part of the value has such a key. */
export const CHECKS_OF_KEYED_VALUES: ReadonlySet<string> = new Set([
  'basic_credentials',
  'command_argument',
  'cookies',
  'credentials',
  'flag_value',
  'inner_password',
  'line_value',
  'password',
  'phrase',
  'prose_password',
  'secret',
  'token',
  'token_list',
  'user_info',
]);
