import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import type { BackendName } from '../../src/backends/backends.ts';
import { mapReferences, reference, type Schema } from './schemas.ts';

/** `informationModel` → `information-model`, the name of its OpenAPI document */
const documentOf = (name: BackendName): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

interface Content {
  readonly content: { readonly 'application/json': { readonly schema: Schema } };
}

interface Operation {
  readonly operationId?: string;
  readonly requestBody?: Content;
  readonly responses: Readonly<Record<string, Content>>;
}

interface Contract {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/**
 * Borrows schemas of the backends' contracts: bodies that the service hands on unread. What they refer to comes along
 * under names that begin with the backend's.
 * @param name adds a schema to the document
 */
export function createBorrower(name: (name: string, schema: Schema) => void) {
  const contracts = new Map<BackendName, Contract>();
  const borrowed = new Set<string>();

  function contractOf(backend: BackendName): Contract {
    const known =
      contracts.get(backend) ?? parse(readFileSync(`docs/contracts/${documentOf(backend)}.openapi.yaml`, 'utf8'));
    contracts.set(backend, known);
    return known;
  }

  function operationOf(backend: BackendName, operationId: string): Operation {
    const operations = Object.values(contractOf(backend).paths).flatMap((item) => Object.values(item));
    const operation = operations.find((one) => one.operationId === operationId);
    if (operation === undefined) throw new Error(`the contract of ${backend} has no operation ${operationId}`);
    return operation;
  }

  function take(backend: BackendName, schema: Schema | undefined): Schema {
    if (schema === undefined) throw new Error(`the contract of ${backend} says nothing about this body`);
    return asDraft07(
      mapReferences(schema, (target) => {
        const original = target.slice('#/components/schemas/'.length);
        const own = `${documentOf(backend)}.${original}`;
        if (!borrowed.has(own)) {
          borrowed.add(own);
          name(own, take(backend, contractOf(backend).components.schemas[original]));
        }
        return String(reference(own)['$ref']);
      }),
    ) as Schema;
  }

  return {
    requestOf: (backend: BackendName, operationId: string): Schema =>
      take(backend, operationOf(backend, operationId).requestBody?.content['application/json'].schema),
    answerOf: (backend: BackendName, operationId: string, status: string): Schema =>
      take(backend, operationOf(backend, operationId).responses[status]?.content['application/json'].schema),
  };
}

/** OpenAPI 3.1 has the newer JSON Schema: what AsyncAPI spells differently, or only allows beside no `$ref`. */
function asDraft07(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(asDraft07);
  if (typeof node !== 'object' || node === null) return node;
  const { dependentRequired, $ref, ...rest } = Object.fromEntries(
    Object.entries(node).map(([key, value]) => [key, asDraft07(value)]),
  );
  const target = $ref === undefined ? {} : Object.keys(rest).length > 0 ? { allOf: [{ $ref }] } : { $ref };
  return { ...rest, ...target, ...(dependentRequired === undefined ? {} : { dependencies: dependentRequired }) };
}
