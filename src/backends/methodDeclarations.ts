import { z } from 'zod';
import { parseTypeRef, type TypeRef } from '../protocol/fields.ts';
import { keysOf, pick } from '../protocol/json.ts';
import { Rejection } from '../protocol/rejection.ts';
import type { Cache } from './cache.ts';
import type { Call, Send } from './call.ts';
import { definitionPath, isFullVersion } from './typeRegistry.ts';

/** Data types by input name. */
export type DeclaredInputs = ReadonlyMap<string, string>;

export interface MethodDeclaration {
  /** Undefined when the method declares no inputs. */
  readonly inputs: DeclaredInputs | undefined;
}

/** The methods that a type declares itself. */
export interface TypeMethods {
  readonly methods: ReadonlyMap<string, MethodDeclaration>;
  readonly baseTypes: readonly string[];
}

/** What is known of a type and its base types. */
export interface Lineage {
  /** The nearest first; empty when the registry does not know the type itself. */
  readonly types: readonly TypeMethods[];
  /** References to types that the registry does not know. */
  readonly unknown: readonly string[];
}

/**
 * The declaration of a method: a type that declares it again keeps the inputs of its base types, and of an input that is
 * declared twice the nearest declaration counts (M4). Undefined when no type declares the method.
 */
export function declarationIn({ types }: Lineage, method: string): MethodDeclaration | undefined {
  const declarations = types.flatMap(({ methods }) => methods.get(method) ?? []);
  if (declarations.length === 0) return undefined;
  const inputs = new Map(declarations.toReversed().flatMap(({ inputs = [] }) => [...inputs]));
  return { inputs: inputs.size > 0 ? inputs : undefined };
}

/** zod's records drop a key named `__proto__`. */
const mapOf = <T extends z.ZodType>(member: T) =>
  z
    .unknown()
    .refine((value) => typeof value === 'object' && !Array.isArray(value))
    .transform((value) => new Map(Object.entries(value as object)))
    .pipe(z.map(z.string(), member));

const definition = z.object({
  methods: mapOf(z.object({ input: mapOf(z.object({ dataType: z.string() })).nullish() })).nullish(),
  baseTypes: z.array(z.string()).nullish(),
});

const keys = keysOf(['methods', 'baseTypes']);

/** Most types that are read for one method, including the type of the object. */
const maxTypes = 64;

const read = { operation: 'read type definition', method: 'GET', expect: [404] } as const;

/** @param latestMs lifetime in the cache of a type reference without a full version (B3) */
export function lineages(send: Send, call: Call, cache: Cache<TypeMethods>, latestMs: number) {
  async function load(model: string, { typeId, version }: TypeRef): Promise<TypeMethods | undefined> {
    const request = { ...read, path: definitionPath(model, typeId, version) };
    const { value } = await send({
      ...request,
      read: { keys, result: (answer) => definition.parse(pick(answer, ['methods', 'baseTypes'])) },
    });
    if (value === undefined) return undefined;
    const methods = Array.from(value.methods ?? [], ([name, { input }]) => {
      const inputs = input && new Map(Array.from(input, ([key, { dataType }]) => [key, dataType] as const));
      return [name, { inputs: inputs ?? undefined }] as const;
    });
    return { methods: new Map(methods), baseTypes: value.baseTypes ?? [] };
  }

  /**
   * Reads the type and all its base types.
   * @throws Rejection
   */
  return async function lineageOf(model: string, type: TypeRef): Promise<Lineage> {
    const refs = new Map([[nameOf(type), type]]);
    const types: TypeMethods[] = [];
    const unknown: string[] = [];
    // The loop includes types that are added during it; a cycle of base types adds none.
    for (const [name, ref] of refs) {
      const ttlMs = isFullVersion(ref.version) ? Number.POSITIVE_INFINITY : latestMs;
      const key = JSON.stringify([model, ref.typeId, ref.version]);
      const found = await cache.get(call, key, ttlMs, () => load(model, ref));
      if (found === undefined) {
        unknown.push(name);
        continue;
      }
      types.push(found);
      for (const text of found.baseTypes) {
        const base = parseTypeRef(text);
        if (base === undefined) unknown.push(text);
        else refs.set(nameOf(base), base);
      }
      if (refs.size > maxTypes) {
        throw new Rejection('http_response_error', `the type has more than ${maxTypes - 1} base types`);
      }
    }
    return { types, unknown };
  };
}

const nameOf = ({ typeId, version }: TypeRef): string => (version === undefined ? typeId : `${typeId}@${version}`);
