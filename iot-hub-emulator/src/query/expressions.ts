import { type Json, numeric } from '../values/json.ts';
import type { Cursor } from './cursor.ts';
import { comparisons, isAmong, negate, type Operator, products, sums } from './operators.ts';
import { type Path, readPath, type Twin, type Value, valueAt } from './paths.ts';
import { refused, type Token, unexpected } from './tokenizer.ts';

/** What a part of a condition is for a twin. */
export type Expression = (twin: Twin) => Value;

// condition  = and *("OR" and)
// and        = not *("AND" not)
// not        = "NOT" not / comparison
// comparison = sum [("=" / "!=" / "<>" / "<" / "<=" / ">" / ">=") sum / ("IN" / "NIN") list]
// sum        = product *(("+" / "-") product)
// product    = term *(("*" / "/" / "%") term)
// term       = "-" term / "(" condition ")" / call / constant / path
// call       = "IS_DEFINED" "(" path ")" / ("STARTSWITH" / "ENDSWITH") "(" sum "," sum ")"
// list       = "[" constant *("," constant) "]"

const isTrue = (value: Value): boolean => value === true;

/** Read a condition. Anything that is not true counts as false in it, also what is not there. */
export function readCondition(cursor: Cursor): Expression {
  let left = readAnd(cursor);
  while (cursor.take('OR')) {
    const [before, after] = [left, readAnd(cursor)];
    left = (twin) => isTrue(before(twin)) || isTrue(after(twin));
  }
  return left;
}

function readAnd(cursor: Cursor): Expression {
  let left = readNot(cursor);
  while (cursor.take('AND')) {
    const [before, after] = [left, readNot(cursor)];
    left = (twin) => isTrue(before(twin)) && isTrue(after(twin));
  }
  return left;
}

function readNot(cursor: Cursor): Expression {
  if (!cursor.take('NOT')) return readComparison(cursor);
  const operand = cursor.nested(() => readNot(cursor));
  return (twin) => !isTrue(operand(twin));
}

function readComparison(cursor: Cursor): Expression {
  const left = readSum(cursor);
  const list = cursor.take('IN', 'NIN');
  if (list) {
    const values = readList(cursor);
    const wanted = list.source.toUpperCase() === 'IN';
    return (twin) => {
      const found = isAmong(left(twin), values);
      return found === undefined ? undefined : found === wanted;
    };
  }
  const sign = cursor.take(...Object.keys(comparisons));
  return sign ? combine(left, comparisons, sign, readSum(cursor)) : left;
}

const readSum = (cursor: Cursor): Expression => readChain(cursor, sums, readProduct);
const readProduct = (cursor: Cursor): Expression => readChain(cursor, products, readTerm);

function readChain(
  cursor: Cursor,
  operators: Readonly<Record<string, Operator>>,
  readPart: (cursor: Cursor) => Expression,
): Expression {
  let left = readPart(cursor);
  for (;;) {
    const sign = cursor.take(...Object.keys(operators));
    if (!sign) return left;
    left = combine(left, operators, sign, readPart(cursor));
  }
}

function combine(
  left: Expression,
  operators: Readonly<Record<string, Operator>>,
  { source }: Token,
  right: Expression,
): Expression {
  const operator = operators[source] as Operator;
  return (twin) => operator(left(twin), right(twin));
}

function readTerm(cursor: Cursor): Expression {
  if (cursor.take('-')) {
    const operand = cursor.nested(() => readTerm(cursor));
    return (twin) => negate(operand(twin));
  }
  if (cursor.take('(')) {
    const inner = cursor.nested(() => readCondition(cursor));
    cursor.need(')');
    return inner;
  }
  const constant = readConstant(cursor);
  if (constant) return () => constant.value;
  const path = readPath(cursor);
  return cursor.sees('(') ? readCall(path, cursor) : (twin) => numeric(valueAt(path, twin));
}

/** What a function that compares two texts makes of them. */
const comparing: Readonly<Record<string, (text: string, part: string) => boolean>> = {
  STARTSWITH: (text, part) => text.startsWith(part),
  ENDSWITH: (text, part) => text.endsWith(part),
};

function readCall({ names, position }: Path, cursor: Cursor): Expression {
  const name = names.join('.').toUpperCase();
  const compare = Object.hasOwn(comparing, name) ? comparing[name] : undefined;
  if (!compare && name !== 'IS_DEFINED')
    throw refused(
      `The query calls ${JSON.stringify(names.join('.').slice(0, 40))} at character ${position}; queries about twins have the functions IS_DEFINED, STARTSWITH and ENDSWITH only.`,
    );
  cursor.need('(');
  const call = compare ? readComparing(compare, cursor) : readDefined(cursor);
  cursor.need(')');
  return call;
}

function readDefined(cursor: Cursor): Expression {
  const path = readPath(cursor);
  return (twin) => valueAt(path, twin) !== undefined;
}

function readComparing(compare: (text: string, part: string) => boolean, cursor: Cursor): Expression {
  const text = cursor.nested(() => readSum(cursor));
  cursor.need(',');
  const part = cursor.nested(() => readSum(cursor));
  return (twin) => {
    const [left, right] = [text(twin), part(twin)];
    return typeof left === 'string' && typeof right === 'string' ? compare(left, right) : undefined;
  };
}

const words: Readonly<Record<string, Value>> = { TRUE: true, FALSE: false, NULL: null, UNDEFINED: undefined };

/** Pass a constant, if one comes next. */
function readConstant(cursor: Cursor): { value: Value } | undefined {
  const { kind, value } = cursor.next();
  if (kind === 'text') return { value: cursor.needKind(kind, 'a text').value };
  if (kind === 'number') return { value: Number(cursor.needKind(kind, 'a number').value) };
  const word = cursor.take(...Object.keys(words));
  return word && { value: words[value.toUpperCase()] };
}

function readList(cursor: Cursor): readonly Json[] {
  const values: Json[] = [];
  cursor.need('[');
  do {
    const isNegative = cursor.take('-') !== undefined;
    const token = cursor.next();
    const { value } = readConstant(cursor) ?? {};
    if (value === undefined || (isNegative && typeof value !== 'number')) throw unexpected(token, 'a constant');
    values.push(isNegative ? -Number(value) : value);
  } while (cursor.take(','));
  cursor.need(']');
  return values;
}
