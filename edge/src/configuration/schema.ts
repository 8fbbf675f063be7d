import { z } from 'zod';

/** Formats of single values. Each message completes `{path}: `. */

const guidForm = /^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/;

export const whole = (least: number, most: number) => {
  const error = `must be a whole number from ${least} to ${most}`;
  return z.int({ error }).min(least, error).max(most, error);
};

export const file = z.string().min(1, 'must be the path of a file');

export const guid = z.string().regex(guidForm, 'must be a GUID');

/** Segments joined by `/`; the first may be empty (`/a/b`). */
const topicForm = /^(?!\$)\/?[^/]+(?:\/[^/]+)*$/;

/** Prefix of topics (M10). */
export const topic = z
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
export const path = z
  .string()
  .refine(
    (text) =>
      text === '' || (!/\p{Cc}/u.test(text) && text.split('/').every((name) => !['', '.', '..'].includes(name))),
    'must be a path: names joined by /, none of them empty, . or .., no control characters',
  );

/** One module of the edge device. */
export const module = z.strictObject({
  id: z
    .string()
    .regex(/^[\w.-]{1,128}$/, 'must have 1 to 128 letters, digits, or any of . _ -')
    .meta({ description: 'Name of the module, in the log.' }),
  objectIds: z.array(guid).default([]).meta({ description: 'Object ids of the models that this module owns.' }),
  identity: path.optional().meta({
    description:
      'Connectivity path of the identity whose object this module owns, instead of `objectIds`; `""` is the device itself. The object that is invoked first is the one: another object of the identity is refused until the proxy starts or reads its file again.',
  }),
  topics_methods_in: topic.meta({
    description:
      'Prefix of the topics of invocations: `{in}/{method}/{requestId}`. The environment of the module has the same value.',
  }),
  topics_methods_out: topic.meta({
    description:
      'Prefix of the topics of replies: `{out}/{status}/{requestId}`. The environment of the module has the same value.',
  }),
  gateway: z
    .strictObject({
      objectIds: z.array(guid).default([]).meta({ description: 'Object ids of the models that the gateway serves.' }),
      targets: z.array(path).default([]).meta({
        description:
          'Connectivity paths that the gateway serves, with all paths below; the longest match wins. `""` serves all paths without another match.',
      }),
    })
    .optional()
    .meta({ description: 'For a module that takes invocations of objects behind it, on `{in}/$proxy/{requestId}`.' }),
  files: z
    .strictObject({
      folder: file.meta({ description: 'Folder of the proxy that the module sees as /files.' }),
      quotaBytes: whole(1, Number.MAX_SAFE_INTEGER).default(1_073_741_824).meta({
        description:
          'Maximum size of the folder and those below in bytes, including files that the module has not removed.',
      }),
      mostFiles: whole(1, 100_000).default(1000).meta({ description: 'Maximum number of files and folders in it.' }),
      mode: z
        .string()
        .regex(/^0?[0-7]{3}$/, 'must be a file mode such as "0640"')
        .default('0640')
        .meta({ description: 'File mode, octal.' }),
    })
    .optional()
    .meta({ description: 'Folder for inputs that are files; without it, methods with files cannot be invoked (M12).' }),
});

export type Module = z.output<typeof module>;

/** The configuration file. The JSON schema is generated from this schema. */
export const schema = z
  .strictObject({
    $schema: z.string().optional().meta({ description: 'Path of the JSON schema, for editors; the proxy ignores it.' }),
    hub: z
      .strictObject({
        connectionString: z.string().optional().meta({
          description:
            'Connection string of the device or of a module of it: with a shared access key, or with x509=true and a certificate.',
        }),
        connectionStringFile: file.optional().meta({
          description: 'File with the connection string, which keeps the key out of this file.',
        }),
        caFile: file.optional().meta({
          description: 'PEM file of certificate authorities that replace the default ones.',
        }),
        certificateFile: file.optional().meta({
          description:
            'PEM file of the X.509 certificate of the device or module, and of those that issued it, in the place of a key.',
        }),
        keyFile: file.optional().meta({ description: 'PEM file of the key of the certificate.' }),
        webSockets: z.boolean().default(false).meta({
          description:
            'MQTT over WebSockets at port 443, as firewalls and proxies allow, instead of MQTT over TLS at port 8883.',
        }),
      })
      .meta({ description: 'The IoT hub.' }),
    network: z
      .strictObject({
        caFile: file.optional().meta({
          description: 'PEM file of certificate authorities that are trusted besides the default ones, everywhere.',
        }),
      })
      .prefault({})
      .meta({
        description: 'How other machines are reached. HTTPS_PROXY and NO_PROXY of the environment name a proxy.',
      }),
    broker: z
      .strictObject({
        url: z
          .string()
          .refine(
            (text) => /^mqtts?:\/\/[^/?#@\s]+$/.test(text) && URL.canParse(text),
            'must be mqtt://host:port or mqtts://host:port, without user or path',
          )
          .meta({ description: 'Address of the MQTT broker: mqtt://host:1883, or mqtts://host:8883 over TLS.' }),
        username: z.string().optional().meta({ description: 'User name of the proxy at the broker.' }),
        password: z.string().optional().meta({ description: 'Password of the proxy at the broker.' }),
        passwordFile: file.optional().meta({ description: 'File with the password.' }),
        caFile: file.optional().meta({
          description: 'PEM file of certificate authorities that replace the default ones.',
        }),
        certificateFile: file.optional().meta({ description: 'PEM file of a client certificate.' }),
        keyFile: file.optional().meta({ description: 'PEM file of the key of the client certificate.' }),
        clientId: z.string().min(1).max(65).optional().meta({
          description: 'Client id at the broker; by default a random one for each start.',
        }),
      })
      .meta({ description: 'The local MQTT broker of the modules (M13).' }),
    modules: z
      .array(module)
      .min(1, 'must have at least one module')
      .max(1000, 'must have at most 1000 modules')
      .meta({ description: 'The modules that own objects with methods, and the gateways (M10).' }),
    files: z
      .strictObject({
        hosts: z
          .array(
            z.string().regex(/^[a-z0-9.-]+(:\d+)?$/, 'must be a host in lower case, with its port unless it is 443'),
          )
          .default([])
          .meta({ description: 'The only hosts from which files are downloaded, by https (M12).' }),
        atOnce: whole(1, 64).default(4).meta({ description: 'Maximum number of downloads at once.' }),
        loopbackHttp: z.boolean().default(false).meta({
          description: 'Allows downloads by http from this machine; only for the sandbox.',
        }),
        caFile: file
          .optional()
          .meta({ description: 'PEM file of certificate authorities that replace the default ones.' }),
      })
      .prefault({})
      .meta({ description: 'Downloads of inputs that are files (M12).' }),
    limits: z
      .strictObject({
        inFlight: whole(1, 10_000).default(200).meta({ description: 'Maximum number of invocations in progress.' }),
        inFlightPerModule: whole(1, 10_000).default(100).meta({
          description: 'Maximum number of invocations in progress for one module.',
        }),
        drainSeconds: whole(0, 300).default(25).meta({
          description: 'How long a stop waits for the invocations in progress, in seconds.',
        }),
      })
      .prefault({})
      .meta({ description: 'Limits on invocations.' }),
    health: z
      .strictObject({
        host: z
          .string()
          .default('0.0.0.0')
          .meta({ description: 'Address that /startupz, /livez and /readyz listen on.' }),
        port: whole(0, 65_535)
          .default(8080)
          .meta({ description: 'Port of /startupz, /livez and /readyz; 0 takes a free one.' }),
      })
      .prefault({})
      .meta({ description: 'Health checks over HTTP.' }),
    log: z
      .strictObject({
        level: z
          .enum(['debug', 'info', 'warn', 'error'], { error: 'must be debug, info, warn or error' })
          .default('info')
          .meta({ description: 'Lowest level that is logged.' }),
        pretty: z.boolean().default(false).meta({ description: 'Lines for people at a terminal instead of JSON.' }),
      })
      .prefault({})
      .meta({ description: 'The log: JSON lines on standard output.' }),
  })
  .meta({ title: 'Edge proxy', description: 'Configuration of the edge proxy.' });

export type ConfigurationFile = z.output<typeof schema>;
