import { luhnSum } from './payment.ts';

const digitsOf = (value: string) => value.replace(/[^0-9]/g, '');

/** The sum of digits times weights. */
const weighted = (digits: string, weights: readonly number[]) =>
  weights.reduce((sum, weight, i) => sum + weight * Number(digits[i]), 0);

const isRepeated = (digits: string) => /^(\d)\1*$/.test(digits);

/** A social security number of the United States: no area 000, 666 or from 900, no group 00, no serial number 0000. */
export function isUsSsn(value: string): boolean {
  const digits = digitsOf(value);
  return (
    /^(?!000|666|9)\d{3}(?!00)\d{2}(?!0000)\d{4}$/.test(digits) &&
    !isRepeated(digits) &&
    !['078051120', '219099999', '123456789'].includes(digits)
  );
}

/** A national insurance number of the United Kingdom, with the prefixes that HMRC gives out. */
export function isUkNino(value: string): boolean {
  const nino = value.replace(/[ -]/g, '').toUpperCase();
  return /^(?!BG|GB|KN|NK|NT|TN|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z]\d{6}[A-D]$/.test(nino);
}

/** A German tax number (Steuer-ID): one digit occurs twice or three times in the first ten, check digit ISO 7064. */
export function isGermanTaxId(value: string): boolean {
  const digits = digitsOf(value);
  if (!/^[1-9]\d{10}$/.test(digits)) return false;
  const counts = new Map<string, number>();
  for (const digit of digits.slice(0, 10)) counts.set(digit, (counts.get(digit) ?? 0) + 1);
  const repeated = [...counts.values()].filter((count) => count > 1);
  return repeated.length === 1 && (repeated[0] as number) <= 3 && mod11And10(digits) === Number(digits[10]);
}

/** The check digit of ISO 7064 MOD 11,10 for the first ten digits. */
function mod11And10(digits: string): number {
  let product = 10;
  for (const digit of digits.slice(0, 10)) {
    const sum = (Number(digit) + product) % 10;
    product = ((sum === 0 ? 10 : sum) * 2) % 11;
  }
  return (11 - product) % 10;
}

/** A French NIR (numéro de sécurité sociale): its key is 97 minus the remainder of the number modulo 97. */
export function isFrenchNir(value: string): boolean {
  const nir = value.replace(/[ .-]/g, '').toUpperCase();
  if (!/^[12]\d{2}(?:0[1-9]|1[0-2]|[2-9]\d)(?:\d{2}|2[AB])\d{6}\d{2}$/.test(nir)) return false;
  // The departments of Corsica, 2A and 2B, count as 19 and 18.
  const number = nir.slice(0, 13).replace('2A', '19').replace('2B', '18');
  return 97 - Number(BigInt(number) % 97n) === Number(nir.slice(13));
}

/** A Spanish DNI or NIE: its letter stands for the number modulo 23. */
export function isSpanishDni(value: string): boolean {
  const id = value.replace(/[ .-]/g, '').toUpperCase();
  if (!/^[XYZ\d]\d{7}[A-Z]$/.test(id)) return false;
  const number = Number(id.slice(0, 8).replace(/^[XYZ]/, (letter) => String('XYZ'.indexOf(letter))));
  return number > 0 && id[8] === 'TRWAGMYFPDXBNJZSQVHLCKE'[number % 23];
}

const CODICE_ODD: Readonly<Record<string, number>> = Object.fromEntries(
  [1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23].flatMap(
    (worth, i) => [[String.fromCharCode(65 + i), worth], ...(i < 10 ? [[String(i), worth]] : [])],
  ),
);

/** An Italian codice fiscale: its last letter is made of the 15 characters before it. */
export function isItalianCodiceFiscale(value: string): boolean {
  const code = value.toUpperCase();
  if (!/^[A-Z]{6}[\dLMNP-V]{2}[A-EHLMPR-T][\dLMNP-V]{2}[A-Z][\dLMNP-V]{3}[A-Z]$/.test(code)) return false;
  return code[15] === codiceFiscaleLetter(code);
}

/** The check letter for the first 15 characters of a codice fiscale. */
function codiceFiscaleLetter(code: string): string {
  let sum = 0;
  for (let i = 0; i < 15; i++) {
    const character = code[i] as string;
    const number = Number.parseInt(character, 36);
    sum += i % 2 === 0 ? (CODICE_ODD[character] as number) : number > 9 ? number - 10 : number;
  }
  return String.fromCharCode(65 + (sum % 26));
}

/** A Dutch burgerservicenummer, by its eleven test. */
export function isDutchBsn(value: string): boolean {
  const digits = digitsOf(value).padStart(9, '0');
  if (digits.length !== 9 || isRepeated(digits)) return false;
  return weighted(digits, [9, 8, 7, 6, 5, 4, 3, 2, -1]) % 11 === 0;
}

/** A Polish PESEL: a date of birth with the century in its month, and a check digit. */
export function isPolishPesel(value: string): boolean {
  if (!/^\d{2}(?:[02468][1-9]|[13579][0-2])(?:0[1-9]|[12]\d|3[01])\d{5}$/.test(value)) return false;
  return weighted(value, [1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1]) % 10 === 0;
}

/** A Swedish personnummer, or a samordningsnummer, whose day is 60 higher: a date of birth and a Luhn digit. */
export function isSwedishPersonnummer(value: string): boolean {
  const digits = digitsOf(value).slice(-10);
  if (!/^\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01]|6[1-9]|[78]\d|9[01])\d{4}$/.test(digits)) return false;
  return luhnSum(digits) % 10 === 0;
}

/** The two check digits at the end of a Brazilian number, of which each one is made of the digits before it. */
function hasBrazilianDigits(digits: string, weights: readonly number[]): boolean {
  if (digits.length !== weights.length + 1 || isRepeated(digits)) return false;
  return [weights.slice(1), weights].every((factors) => {
    const remainder = weighted(digits, factors) % 11;
    return Number(digits[factors.length]) === (remainder < 2 ? 0 : 11 - remainder);
  });
}

/** A Brazilian CPF, the number of a person. */
export const isBrazilianCpf = (value: string) =>
  hasBrazilianDigits(digitsOf(value), [11, 10, 9, 8, 7, 6, 5, 4, 3, 2]);

/** A Brazilian CNPJ, the number of a company. */
export const isBrazilianCnpj = (value: string) =>
  hasBrazilianDigits(digitsOf(value), [6, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2]);

const VERHOEFF_PRODUCTS = (
  '0123456789 1234067895 2340178956 3401289567 4012395678 ' +
  '5987604321 6598710432 7659821043 8765932104 9876543210'
).split(' ');
const VERHOEFF_PERMUTATIONS =
  '0123456789 1576283094 5803796142 8916043527 9453126870 4286573901 2793806415 7046913258'.split(' ');

/** The value of Verhoeff's algorithm for digits, which is 0 with a right check digit at the end. */
function verhoeff(digits: string): number {
  let value = 0;
  for (let i = 0; i < digits.length; i++) {
    const digit = Number(digits[digits.length - 1 - i]);
    value = Number(VERHOEFF_PRODUCTS[value]?.[Number(VERHOEFF_PERMUTATIONS[i % 8]?.[digit])]);
  }
  return value;
}

/** An Indian Aadhaar number: twelve digits, of which the first is 2 or more, with Verhoeff's check digit. */
export function isIndianAadhaar(value: string): boolean {
  const digits = digitsOf(value);
  return /^[2-9]\d{11}$/.test(digits) && !isRepeated(digits) && verhoeff(digits) === 0;
}

/** An Indian PAN: the fourth letter is a kind of holder. */
export const isIndianPan = (value: string) => /^[A-Z]{3}[ABCFGHJLPT][A-Z]\d{4}[A-Z]$/.test(value);
