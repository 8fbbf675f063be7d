import { z } from 'zod';

// Formats of single values. Each message completes `{path}: `.

const guidForm = /^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/;

export const guid = z.string().regex(guidForm, 'must be a GUID');

const whole = (least: number, most: number, usual: number) => {
  const error = `must be a whole number from ${least} to ${most}`;
  return z.int({ error }).min(least, error).max(most, error).default(usual);
};

const isWanted = z.boolean().default(false);
const guids = z.array(guid).default([]);
const text = z.string().optional();
const folderPath = z.string().min(1, 'must be the path of a file');
const file = folderPath.optional();
const authorities = file.describe('PEM file of certificate authorities that replace the default ones.');

/** Segments joined by `/`; the first may be empty (`/a/b`). */
const topicForm = /^(?!\$)\/?[^/]+(?:\/[^/]+)*$/;

/** Prefix of topics (M10). */
const topic = z
  .string()
  .refine((text) => !/[+#]/.test(text), 'must not contain the wildcards + or #')
  .refine(
    (text) => topicForm.test(text) && isTopicText(text) && Buffer.byteLength(text) <= 512,
    'must be a topic: at most 512 bytes, segments joined by /, none of them empty, no control characters, not beginning with $',
  );

/** Whether brokers accept the text in a topic. */
export const isTopicText = (text: string): boolean =>
  text.isWellFormed() && !/[\p{Cc}\p{Noncharacter_Code_Point}]/u.test(text);

/** A connectivity path below the device (P5); empty: the device itself. */
const path = z
  .string()
  .refine(
    (text) =>
      text === '' || (!/\p{Cc}/u.test(text) && text.split('/').every((name) => !['', '.', '..'].includes(name))),
    'must be a path: names joined by /, none of them empty, . or .., no control characters',
  );
const paths = z.array(path).default([]);

const section = <M extends z.core.$ZodLooseShape>(what: string, members: M) => z.strictObject(members).describe(what);

/** One module of the edge device. */
const module = z.strictObject({
  id: z
    .string()
    .regex(/^[\w.-]{1,128}$/, 'must have 1 to 128 letters, digits, or any of . _ -')
    .describe('Name of the module, in the log.'),
  objectIds: guids.describe('Object ids of the models that this module owns.'),
  identity: path
    .optional()
    .describe(
      'Connectivity path of the identity whose object this module owns, instead of `objectIds`; `""` is the device itself. The object that is invoked first is the one: another object of the identity is refused until the proxy starts or reads its file again.',
    ),
  topics_methods_in: topic.describe(
    'Prefix of the topics of invocations: `{in}/{method}/{requestId}`. The environment of the module has the same value.',
  ),
  topics_methods_out: topic.describe(
    'Prefix of the topics of replies: `{out}/{status}/{requestId}`. The environment of the module has the same value.',
  ),
  gateway: section('For a module that takes invocations of objects behind it, on `{in}/$proxy/{requestId}`.', {
    objectIds: guids.describe('Object ids of the models that the gateway serves.'),
    targets: paths.describe(
      'Connectivity paths that the gateway serves, with all paths below; the longest match wins. `""` serves all paths without another match.',
    ),
  }).optional(),
  files: section('Folder for inputs that are files; without it, methods with files cannot be invoked (M12).', {
    folder: folderPath.describe('Folder of the proxy that the module sees as /files.'),
    quotaBytes: whole(1, Number.MAX_SAFE_INTEGER, 1_073_741_824).describe(
      'Maximum size of the folder and those below in bytes, including files that the module has not removed.',
    ),
    mostFiles: whole(1, 100_000, 1000).describe('Maximum number of files and folders in it.'),
    mode: z
      .string()
      .regex(/^0?[0-7]{3}$/, 'must be a file mode such as "0640"')
      .default('0640')
      .describe('File mode, octal.'),
  }).optional(),
});

export type Module = z.output<typeof module>;

/** The configuration file. The JSON schema is generated from this schema. */
export const schema = z
  .strictObject({
    $schema: text.describe('Path of the JSON schema, for editors; the proxy ignores it.'),
    hub: section('The IoT hub.', {
      connectionString: text.describe(
        'Connection string of the device or of a module of it: with a shared access key, or with x509=true and a certificate.',
      ),
      connectionStringFile: file.describe('File with the connection string, which keeps the key out of this file.'),
      caFile: authorities,
      certificateFile: file.describe(
        'PEM file of the X.509 certificate of the device or module, and of those that issued it, in the place of a key.',
      ),
      keyFile: file.describe('PEM file of the key of the certificate.'),
      webSockets: isWanted.describe(
        'MQTT over WebSockets at port 443, as firewalls and proxies allow, instead of MQTT over TLS at port 8883.',
      ),
    }),
    network: section('How other machines are reached. HTTPS_PROXY and NO_PROXY of the environment name a proxy.', {
      caFile: file.describe(
        'PEM file of certificate authorities that are trusted besides the default ones, everywhere.',
      ),
    }).prefault({}),
    broker: section('The local MQTT broker of the modules (M13).', {
      url: z
        .string()
        .refine(
          (text) => /^mqtts?:\/\/[^/?#@\s]+$/.test(text) && URL.canParse(text),
          'must be mqtt://host:port or mqtts://host:port, without user or path',
        )
        .describe('Address of the MQTT broker: mqtt://host:1883, or mqtts://host:8883 over TLS.'),
      username: text.describe('User name of the proxy at the broker.'),
      password: text.describe('Password of the proxy at the broker.'),
      passwordFile: file.describe('File with the password.'),
      caFile: authorities,
      certificateFile: file.describe('PEM file of a client certificate.'),
      keyFile: file.describe('PEM file of the key of the client certificate.'),
      clientId: z
        .string()
        .min(1)
        .max(65)
        .optional()
        .describe('Client id at the broker; by default a random one for each start.'),
    }),
    modules: z
      .array(module)
      .min(1, 'must have at least one module')
      .max(1000, 'must have at most 1000 modules')
      .describe('The modules that own objects with methods, and the gateways (M10).'),
    files: section('Downloads of inputs that are files (M12).', {
      hosts: z
        .array(z.string().regex(/^[a-z0-9.-]+(:\d+)?$/, 'must be a host in lower case, with its port unless it is 443'))
        .default([])
        .describe('The only hosts from which files are downloaded, by https (M12).'),
      atOnce: whole(1, 64, 4).describe('Maximum number of downloads at once.'),
      loopbackHttp: isWanted.describe('Allows downloads by http from this machine; only for the sandbox.'),
      caFile: authorities,
    }).prefault({}),
    limits: section('Limits on invocations.', {
      inFlight: whole(1, 10_000, 200).describe('Maximum number of invocations in progress.'),
      inFlightPerModule: whole(1, 10_000, 100).describe('Maximum number of invocations in progress for one module.'),
      drainSeconds: whole(0, 300, 25).describe('How long a stop waits for the invocations in progress, in seconds.'),
    }).prefault({}),
    health: section('Health checks over HTTP.', {
      host: z.string().default('0.0.0.0').describe('Address that /startupz, /livez and /readyz listen on.'),
      port: whole(0, 65_535, 8080).describe('Port of /startupz, /livez and /readyz; 0 takes a free one.'),
    }).prefault({}),
    log: section('The log: JSON lines on standard output.', {
      level: z
        .enum(['debug', 'info', 'warn', 'error'], { error: 'must be debug, info, warn or error' })
        .default('info')
        .describe('Lowest level that is logged.'),
      pretty: isWanted.describe('Lines for people at a terminal instead of JSON.'),
    }).prefault({}),
  })
  .meta({ title: 'Edge proxy', description: 'Configuration of the edge proxy.' });

export type ConfigurationFile = z.output<typeof schema>;
