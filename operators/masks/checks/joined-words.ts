/** Words of names of things in software, of code and of what is said about secrets. */
const TECHNICAL = new Set(
  (
    'secret secrets key keys token tokens password passwords passwd pass credential credentials name names default test tests testing prod production ' +
    'dev development staging stage demo sample dummy fake mock some your change changeme example placeholder cert certs certificate tls ssl app apps api web ' +
    'service services server servers client clients host database postgres postgresql mysql mongo mongodb redis kafka rabbitmq kube kubernetes system config ' +
    'configuration settings setting auth login user users username account accounts store vault aws gcp azure google github gitlab docker registry image images ' +
    'pull push ingress egress operator cluster node nodes pod pods namespace controller webhook manager internal external public private local global base ' +
    'root main ref file files path value values from env environment var vars string text data body request response session cookie cookies header headers ' +
    'self this process params args opts options props state context file json yaml xml html http https proxy url uri oauth jwt saml ldap smtp mail email ' +
    'backend frontend worker workers queue job jobs task tasks monitor monitoring metrics log logs logging prometheus grafana elastic kibana loki argo helm ' +
    'flux terraform ansible jenkins runner agent agents access refresh bearer basic shared signing encryption crypto hash bot admin master slave primary ' +
    'replica backup object bucket storage volume claim policy role rule group domain realm scope tenant project team org update upgrade create delete reset ' +
    'strength meter policy manager generator checker field input prompt form page link less hashing protected encrypted plain rules requirements validation ' +
    'one time use only single multi two three case sensitive upper lower letter letters digit digits long short read write based provided supplied specified defined ' +
    'generate generated rotate rotation expired missing required invalid none null undefined true false the and for with not new old set get put add'
  ).split(' '),
);

const JOINED = /^\p{Ll}{3,20}([-._ ])\p{Ll}{3,20}(?:\1\p{Ll}{3,20}){1,8}$/u;

/**
 * Whether a value is three words or more that someone chose at random, `nebel-rocket-banane`, rather than a name of a thing or
 * a variable: those have technical words.
 */
export const areJoinedWords = (value: string): boolean =>
  JOINED.test(value) && !value.split(/[-._ ]/).some((word) => TECHNICAL.has(word));

/** One word of eight letters or more, or several words that are joined, with a number after them or without one. */
const WORDS_WITH_NUMBER =
  /^(?:\p{Ll}{8,20}|\p{Ll}{3,20}(?:[-._ ]\p{Ll}{2,20}){1,8}(?:[-._]\d{1,6})?|\p{Ll}{3,20}[-._]\d{2,6})$/u;

/** Whether a value is one word or more that someone chose, none of which is technical or part of a message. */
export const areWordsWithoutMeaning = (value: string): boolean =>
  WORDS_WITH_NUMBER.test(value) &&
  !value
    .split(/[-._ ]/)
    .some(
      (word) =>
        TECHNICAL.has(word) ||
        /^(?:your|enter|must|should|cannot|characters?|least|is|are|to|of)$/.test(word),
    );
