import { z } from 'zod';
import { parseTypeRef, type TypeRef } from '../protocol/fields.ts';
import { pick } from '../protocol/json.ts';
import { keysOf } from '../protocol/jsonKeys.ts';
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

/** zod's records drop a key named `__proto__`. */
const mapOf = <T extends z.ZodType>(member: T) =>
  z
    .unknown()
    .refine((value) => typeof value === 'object' && value !== null && !Array.isArray(value))
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
export function methodDeclarations(send: Send, call: Call, cache: Cache<TypeMethods>, latestMs: number) {
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
   * The declaration of the type, or else of its nearest base type (M4); undefined when there is none.
   * @throws Rejection
   */
  return async function declarationOf(
    model: string,
    type: TypeRef,
    method: string,
  ): Promise<MethodDeclaration | undefined> {
    const types = new Map([[`${type.typeId}@${type.version}`, type]]);
    // The loop includes types that are added during it; a cycle of base types adds none.
    for (const ref of types.values()) {
      const ttlMs = isFullVersion(ref.version) ? Number.POSITIVE_INFINITY : latestMs;
      const key = JSON.stringify([model, ref.typeId, ref.version]);
      const found = await cache.get(call, key, ttlMs, () => load(model, ref));
      const declared = found?.methods.get(method);
      if (declared !== undefined) return declared;
      for (const text of found?.baseTypes ?? []) {
        const base = parseTypeRef(text);
        if (base !== undefined) types.set(`${base.typeId}@${base.version}`, base);
      }
      if (types.size > maxTypes) {
        throw new Rejection('http_response_error', `the type has more than ${maxTypes - 1} base types`);
      }
    }
    return undefined;
  };
}
