import { z } from 'zod';
import { file, guid, path, topic, whole } from './values.ts';

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
