import { immediateFaults, standingFaults } from 'iot-hub-emulator';
import { type Operation, operations, schemas } from 'iot-hub-emulator/admin';
import { z } from 'zod';
import { contractPage } from './writtenPart.ts';

const description = `For tests, tools and people: devices, faults, counters and the journal of a running hub. It listens on the
loopback interface and needs no token; opened to other machines, it asks for one. It refuses requests of web pages (with an \`Origin\`, or for a host
that is no name of the hub). JSON in and out; every error is an object with a sentence. \`GET /\` lists these routes.
`;

const named = z.registry<{ id: string }>();
for (const [name, schema] of Object.entries(schemas)) named.add(schema, { id: name });
for (const fault of [...standingFaults, ...immediateFaults])
  named.add(fault, { id: `fault-${fault.shape.kind.value}` });

const refusal = { $ref: '#/components/responses/refused' };

/** A schema of the contract: by its name if it has one. */
function described(schema: z.ZodType, id: string): object {
  if (!named.has(schema)) named.add(schema, { id });
  return { $ref: `#/components/schemas/${named.get(schema)?.id}` };
}

function parametersOf({ path, query }: Operation): object[] {
  const inPath = path.includes('{id}') ? [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }] : [];
  const inQuery = Object.entries(query?.shape ?? {}).map(([name, schema]) => {
    const { $schema: _, description: text, ...rest } = z.toJSONSchema(schema as z.ZodType, { io: 'output' });
    return { name, in: 'query', description: text, schema: rest };
  });
  return [...inPath, ...inQuery];
}

function operationOf(operationId: string, operation: Operation): object {
  const { summary, body, answers, refusals = [] } = operation;
  const parameters = parametersOf(operation);
  const responses = Object.entries(answers).map(([status, { what, schema, mediaType = 'application/json' }]) => {
    const content = schema && { content: { [mediaType]: { schema: described(schema, `${operationId}-${status}`) } } };
    return [status, { description: what, ...content }];
  });
  return {
    operationId,
    summary,
    ...(parameters.length > 0 && { parameters }),
    ...(body && {
      requestBody: {
        required: true,
        content: { 'application/json': { schema: described(body, `${operationId}-body`) } },
      },
    }),
    responses: {
      ...Object.fromEntries([...responses, ...refusals.map((status) => [status, refusal])]),
      default: refusal,
    },
  };
}

export function hubAdminOpenApi(): string {
  const paths: Record<string, Record<string, object>> = {};
  for (const [id, operation] of Object.entries<Operation>(operations)) {
    const { path, method } = operation;
    paths[path] = { ...paths[path], [method.toLowerCase()]: operationOf(id, operation) };
  }
  const generated = z.toJSONSchema(named, { uri: (id) => `#/components/schemas/${id}`, io: 'input' }).schemas;
  const components = Object.entries(generated)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([id, { $schema, $id, ...schema }]) => [id, schema]);
  const refused = {
    description: 'Refused. The sentence says why.',
    content: { 'application/json': { schema: { $ref: '#/components/schemas/refused' } } },
  };
  const contract = {
    openapi: '3.1.0',
    info: { title: 'Administration of the hub emulator', version: '1.0.0', description },
    servers: [{ url: '{adminUrl}', variables: { adminUrl: { default: 'http://127.0.0.1:8080' } } }],
    security: [{}, { token: [] }],
    paths,
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
      responses: { refused },
      schemas: Object.fromEntries(components),
    },
  };
  return contractPage("the operations and schemas of the hub's admin port", contract);
}
