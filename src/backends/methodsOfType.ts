import { z } from 'zod';
import { parseTypeRef, type TypeRef } from '../protocol/fields.ts';
import { pick } from '../protocol/json.ts';
import { Rejection } from '../rejection.ts';
import type { Cache } from './cache.ts';
import type { Call, Send } from './call.ts';
import { definitionPath, isFullVersion } from './typeRegistry.ts';

/** The inputs of a method, each with its data type; undefined when it declares none. */
export type Inputs = ReadonlyMap<string, string>;

export interface Declaration {
  readonly inputs: Inputs | undefined;
}

/** What one type says of methods. */
export interface MethodsOfType {
  readonly methods: ReadonlyMap<string, Declaration>;
  readonly baseTypes: readonly string[];
}

/** A record whose keys may be anything, `__proto__` included. */
const named = <T extends z.ZodType>(member: T) =>
  z
    .unknown()
    .refine((value) => typeof value === 'object' && value !== null && !Array.isArray(value))
    .transform((value) => new Map(Object.entries(value as object)))
    .pipe(z.map(z.string(), member));

const definition = z.object({
  methods: named(z.object({ input: named(z.object({ dataType: z.string() })).nullish() })).nullish(),
  baseTypes: z.array(z.string()).nullish(),
});

/** Types that are read for one method, the type itself included. */
const mostTypes = 64;

const read = { operation: 'read type definition', method: 'GET', expect: [404] } as const;

/** @param latestMs how long the latest version, or the latest of a major version, is taken for granted (B3) */
export function methodsOfTypes(send: Send, call: Call, cache: Cache<MethodsOfType>, latestMs: number) {
  async function load(model: string, { typeId, version }: TypeRef): Promise<MethodsOfType | undefined> {
    const request = { ...read, path: definitionPath(model, typeId, version) };
    const { value } = await send({
      ...request,
      read: (answer) => definition.parse(pick(answer, ['methods', 'baseTypes'])),
    });
    if (value === undefined) return undefined;
    const methods = Array.from(value.methods ?? [], ([name, { input }]) => {
      const inputs = input && new Map(Array.from(input, ([key, { dataType }]) => [key, dataType] as const));
      return [name, { inputs: inputs ?? undefined }] as const;
    });
    return { methods: new Map(methods), baseTypes: value.baseTypes ?? [] };
  }

  /**
   * What the type, or else the nearest of its base types, declares under this name (M4); undefined when none does, or
   * the type is not there.
   * @throws Rejection
   */
  return async function declarationOf(model: string, type: TypeRef, method: string): Promise<Declaration | undefined> {
    const types = new Map([[`${type.typeId}@${type.version}`, type]]);
    // A map is walked in the order of its entries, those that are added on the way included; a circle adds none.
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
      if (types.size > mostTypes) {
        throw new Rejection('http_response_error', `the type has more than ${mostTypes - 1} base types`);
      }
    }
    return undefined;
  };
}
