import { client, type Fact, inference, page, pages, thread } from '../fact.ts';
import { detail } from './details.ts';

// X.509 devices and queries, which no service of this project asks for.

const x509 = page('iot-hub/authenticate-authorize-x509');
const language = page('iot-hub/iot-hub-devguide-query-language');
const queries = page('iot-hub/query-twins');

export const certificateFacts: readonly Fact[] = [
  detail(
    'x509.tls',
    'TLS asks every client for a certificate, and takes any, or none; the login says which is needed.',
    x509,
  ),
  detail(
    'x509.thumbprint',
    'A device of the type `selfSigned` gets in by a certificate with one of two thumbprints, SHA-1 or SHA-256, that is valid; its issuer does not matter.',
    x509,
    thread('Azure/iotedge#621', 'thumbprint and expiry alone'),
    thread('Azure/azure-iot-sdk-csharp#463', 'SHA-256'),
  ),
  detail(
    'x509.authority',
    'One of the type `certificateAuthority` gets in by a certificate whose common name is its id (of a module `device/module`) and behind which a verified CA certificate stands, at any distance up to ten.',
    x509,
    inference('ten, and that lengths of paths and key uses are not compared'),
  ),
  detail(
    'x509.no-key',
    'Neither gets in by a key of its own; over AMQP a token of a policy that lets devices connect is enough.',
    thread('Azure/azure-iot-sdk-csharp#1348'),
  ),
  detail(
    'x509.sas-device',
    'A device of the type `sas` that presents a certificate needs its token all the same.',
    inference('nothing says that one replaces the other'),
  ),
  detail('x509.expiry', 'A connection outlives its certificate.', thread('Azure/azure-iot-sdk-python#968')),
  detail('x509.revocation', 'Revocation lists are not read.', x509),
  detail(
    'x509.stamp',
    'Events have `"type":"x509"` in `iothub-connection-auth-method`.',
    pages.messages,
    thread('MicrosoftDocs/azure-docs#8860'),
  ),
  detail(
    'x509.registered',
    'At most 25 CA certificates, registered, verified and removed as at the resource manager (H20).',
    pages.quotas,
    client('`@azure/arm-iothub`'),
  ),
];

export const queryFacts: readonly Fact[] = [
  detail(
    'queries.shape',
    '`SELECT [TOP n] * or columns FROM devices or devices.modules [WHERE …] [GROUP BY …]`; there is no `ORDER BY`.',
    language,
    queries,
  ),
  detail(
    'queries.conditions',
    'Conditions have `AND`, `OR`, `NOT`, `=`, `!=`, `<>`, `<`, `<=`, `>`, `>=`, `IN`, `NIN`, `+ - * / %`, `IS_DEFINED`, nested paths, texts in either quotes with four escapes, decimal and hexadecimal numbers, `true`, `false`, `null`, `undefined`. `COUNT`, `AVG`, `SUM`, `MIN` and `MAX` have an alias.',
    language,
    queries,
  ),
  detail(
    'queries.truth',
    'In a condition everything but `true` counts as false; objects and lists are compared with nothing.',
    language,
    inference(
      'a comparison with what is not there is not true, `!=` included, nor is `<` between a number and a text, while `=` and `!=` compare any two values (H21)',
    ),
  ),
  detail(
    'queries.names',
    'The hub’s own names (`deviceId`, `status`, `lastActivityTime` …) count in any case, those in tags and properties as they are written.',
    queries,
    inference('tags and properties'),
  ),
  detail(
    'queries.columns',
    'A column without `AS` has the last name of its path; what a twin has not is left out.',
    queries,
    inference('longer names'),
  ),
  detail(
    'queries.words',
    'A property that is called like a word of the language is `tags.[[group]]`.',
    thread('MicrosoftDocs/azure-docs#17106', 'the refusal'),
    inference('the language of Azure Digital Twins'),
  ),
  detail('queries.length', 'A query has 8,192 characters at most.', language),
  detail(
    'queries.functions',
    'Functions are `IS_DEFINED`, and `STARTSWITH` and `ENDSWITH` without the underscore that pages gave them: true or false for two texts, else nothing.',
    thread('MicrosoftDocs/azure-docs#110329'),
    thread('MicrosoftDocs/azure-docs#85381', 'also the end'),
  ),
  detail('queries.item-type', '`x-ms-item-type` is `Twin` or `Raw`.', client('`azure-iot-sdk-csharp`')),
];
