/** A pack that has a rule, and adds a name, a notation, a guard and a word. */
export const ACME = `
names:
  - { name: tresorwort, kind: password, keys: [tresorwort, db_tresorwort], not: [tresorwort_laenge] }
notations:
  - { notation: arrow, form: 'KEY ~~> VALUE', example: 'KEY ~~> VALUE', miss: 'KEY ~~ VALUE' }
guards:
  - { guard: a colour, value: 'farbe-\\w+', example: 'password=farbe-blau7', miss: 'password=farben7' }
words: [zebrafink]
rules:
  ticket:
    description: A number of a ticket
    match: 'ACM-[0-9]{8}'
    tests: { matches: ['see ticket <<ACM-{digit:8}>>', 'ACM-{digit:8}'], misses: ['ACM-{digit:7}'] }
`;
