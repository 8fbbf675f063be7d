import { z } from 'zod';
import { file, guid, target, topic, whole } from './values.ts';

/** One module of the edge device. */
export const module = z.strictObject({
  id: z
    .string()
    .regex(/^[\w.-]{1,128}$/, 'must have 1 to 128 letters, digits, or any of . _ -')
    .meta({ description: 'Name of the module, in the log.' }),
  objectIds: z
    .array(guid)
    .default([])
    .meta({ description: 'Object ids of the models that this module owns: it has their methods.' }),
  topics_methods_in: topic.meta({
    description:
      'Below this topic the module gets invocations: `{in}/{method}/{requestId}`. The module has it in its environment.',
  }),
  topics_methods_out: topic.meta({
    description:
      'Below this topic the module replies: `{out}/{status}/{requestId}`. The module has it in its environment.',
  }),
  gateway: z
    .strictObject({
      objectIds: z.array(guid).default([]).meta({ description: 'Object ids of the models that it serves.' }),
      targets: z.array(target).default([]).meta({
        description:
          'Connectivity paths that it serves, with all below them; the longest one wins. `""`: all that nobody else serves.',
      }),
    })
    .optional()
    .meta({ description: 'For a module that takes invocations for others, on `{in}/$proxy/{requestId}`.' }),
  files: z
    .strictObject({
      folder: file.meta({ description: 'Folder of the proxy that the module has as /files.' }),
      quotaBytes: whole(1, Number.MAX_SAFE_INTEGER).default(1_073_741_824).meta({
        description: 'Most bytes there at once, with those that the module has left lying.',
      }),
      mostFiles: whole(1, 100_000).default(1000).meta({ description: 'Most files there at once.' }),
      mode: z
        .string()
        .regex(/^0?[0-7]{3}$/, 'must be a file mode such as "0640"')
        .default('0640')
        .meta({ description: 'Mode of the files, octal.' }),
    })
    .optional()
    .meta({ description: 'Where its files go; without it, methods with files cannot be invoked (M12).' }),
});

export type Module = z.output<typeof module>;
