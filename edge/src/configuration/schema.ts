import { z } from 'zod';
import { module } from './moduleSchema.ts';
import { file, whole } from './values.ts';

/** The configuration file. Its sentences are those of the JSON schema, and of the example. */
export const schema = z
  .strictObject({
    $schema: z.string().optional().meta({ description: 'Address of the JSON schema, for editors; not read.' }),
    hub: z
      .strictObject({
        connectionString: z.string().optional().meta({
          description: 'Connection string, with its key, of the device or of a module of it; as front doors know it.',
        }),
        connectionStringFile: file.optional().meta({
          description: 'File that has the connection string, instead of it: a secret is better not written here.',
        }),
        caFile: file.optional().meta({
          description: 'PEM file of authorities to trust instead of the usual ones, for a hub behind a gateway.',
        }),
      })
      .meta({ description: 'The IoT hub that invocations come from.' }),
    broker: z
      .strictObject({
        url: z
          .string()
          .refine(
            (text) => /^mqtts?:\/\/[^/?#@\s]+$/.test(text) && URL.canParse(text),
            'must be mqtt://host:port or mqtts://host:port, without user or path',
          )
          .meta({ description: 'Address of the MQTT broker: mqtt://host:1883, or mqtts://host:8883 over TLS.' }),
        username: z.string().optional().meta({ description: 'Who the proxy is at the broker.' }),
        password: z.string().optional().meta({ description: 'Password of the proxy at the broker.' }),
        passwordFile: file.optional().meta({ description: 'File that has the password, instead of it.' }),
        caFile: file.optional().meta({
          description: 'PEM file of authorities to trust instead of the usual ones.',
        }),
        certificateFile: file.optional().meta({ description: 'PEM file of a client certificate.' }),
        keyFile: file.optional().meta({ description: 'PEM file of its key.' }),
        clientId: z.string().min(1).max(65).optional().meta({
          description: 'Client id at the broker; a new one at every start when it is left out.',
        }),
      })
      .meta({ description: 'The local MQTT broker that modules are connected to (M13).' }),
    modules: z
      .array(module)
      .min(1, 'must have at least one module')
      .max(1000, 'must have at most 1000 modules')
      .meta({ description: 'The modules that have methods, and those that serve others (M10).' }),
    files: z
      .strictObject({
        hosts: z
          .array(
            z
              .string()
              .regex(/^[a-z0-9.-]+(:\d+)?$/, 'must be a host in lower case, with a port if it is not the usual one'),
          )
          .default([])
          .meta({ description: 'Hosts that files are fetched from, by https; no others (M12).' }),
        atOnce: whole(1, 64).default(4).meta({ description: 'Most downloads at once.' }),
        loopbackHttp: z.boolean().default(false).meta({
          description: 'Lets files be fetched by http from this machine, which only the sandbox needs.',
        }),
        caFile: file.optional().meta({ description: 'PEM file of authorities to trust instead of the usual ones.' }),
      })
      .prefault({})
      .meta({ description: 'Where files that are inputs of methods come from (M12).' }),
    limits: z
      .strictObject({
        inFlight: whole(1, 10_000).default(200).meta({ description: 'Most invocations in work at once, in all.' }),
        inFlightPerModule: whole(1, 10_000).default(100).meta({
          description: 'Most invocations in work at once for one module.',
        }),
        drainSeconds: whole(0, 300).default(25).meta({
          description: 'How long a stop waits for the invocations in work, in seconds.',
        }),
      })
      .prefault({})
      .meta({ description: 'How much is done at once.' }),
    health: z
      .strictObject({
        host: z.string().default('0.0.0.0').meta({ description: 'Address that /livez and /readyz listen on.' }),
        port: whole(0, 65_535).default(8080).meta({ description: 'Port of /livez and /readyz; 0 takes a free one.' }),
      })
      .prefault({})
      .meta({ description: 'Where the proxy says how it is.' }),
    log: z
      .strictObject({
        level: z
          .enum(['debug', 'info', 'warn', 'error'], { error: 'must be debug, info, warn or error' })
          .default('info')
          .meta({ description: 'Least level that is logged.' }),
      })
      .prefault({})
      .meta({ description: 'The log: JSON lines on standard output.' }),
  })
  .meta({ title: 'Edge proxy', description: 'Configuration of the edge proxy.' });

export type Written = z.output<typeof schema>;
