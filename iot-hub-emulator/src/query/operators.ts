import type { Json } from '../values/json.ts';
import type { Value } from './paths.ts';

/** What an operator makes of two values. */
export type Operator = (left: Value, right: Value) => Value;

const isPrimitive = (value: Value): value is null | boolean | number | string =>
  value !== undefined && (value === null || typeof value !== 'object');

/** Objects, lists and what is not there are equal to nothing, and not unequal either. */
const equality =
  (wanted: boolean): Operator =>
  (left, right) =>
    isPrimitive(left) && isPrimitive(right) ? (left === right) === wanted : undefined;

/** Numbers are compared with numbers, and texts with texts, by their code units. */
const order =
  (isWanted: (sign: number) => boolean): Operator =>
  (left, right) => {
    const comparable = typeof left === typeof right && (typeof left === 'number' || typeof left === 'string');
    return comparable ? isWanted(signOf(left as number, right as number)) : undefined;
  };

const arithmetic =
  (calculate: (left: number, right: number) => number): Operator =>
  (left, right) => {
    if (typeof left !== 'number' || typeof right !== 'number') return undefined;
    const result = calculate(left, right);
    return Number.isFinite(result) ? result : undefined;
  };

const signOf = <T extends number | string>(left: T, right: T): number => (left < right ? -1 : left > right ? 1 : 0);

export const comparisons: Readonly<Record<string, Operator>> = {
  '=': equality(true),
  '!=': equality(false),
  '<>': equality(false),
  '<': order((sign) => sign < 0),
  '<=': order((sign) => sign <= 0),
  '>': order((sign) => sign > 0),
  '>=': order((sign) => sign >= 0),
};
export const sums: Readonly<Record<string, Operator>> = {
  '+': arithmetic((left, right) => left + right),
  '-': arithmetic((left, right) => left - right),
};
export const products: Readonly<Record<string, Operator>> = {
  '*': arithmetic((left, right) => left * right),
  '/': arithmetic((left, right) => left / right),
  '%': arithmetic((left, right) => left % right),
};

export const negate = (value: Value): Value => (typeof value === 'number' ? -value : undefined);

/** Whether a value is one of a list: undefined for objects, lists and what is not there. */
export const isAmong = (value: Value, list: readonly Json[]): boolean | undefined =>
  isPrimitive(value) ? list.includes(value) : undefined;
