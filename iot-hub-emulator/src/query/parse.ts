import { Refusal } from '../values/refusal.ts';

/** A query about twins. */
export interface TwinQuery {
  from: 'devices' | 'devices.modules';
}

/** A word or a sign of a query; at its end, an empty one. */
interface Token {
  text: string;
  /** Counts from 1. */
  position: number;
}

const next = /\s*(?<text>[\p{L}\p{N}_$]+|\S|$)/uy;
const longestName = 40;

/**
 * Read a query: `SELECT * FROM devices` or `devices.modules`, in any case, with a semicolon or without. Refuses any other
 * by the first text that does not belong there, with its position.
 */
export function parseQuery(query: string): TwinQuery {
  let at = 0;
  let token = advance();

  function advance(): Token {
    next.lastIndex = at;
    const { text = '' } = next.exec(query)?.groups ?? {};
    at = next.lastIndex;
    return { text, position: at - text.length + 1 };
  }
  const take = (wanted: string): boolean => {
    if (token.text.toUpperCase() !== wanted) return false;
    token = advance();
    return true;
  };
  const need = (wanted: string): void => {
    if (!take(wanted)) throw unexpected(token, wanted);
  };

  for (const wanted of ['SELECT', '*', 'FROM', 'DEVICES']) need(wanted);
  const from = take('.') ? 'devices.modules' : 'devices';
  if (from === 'devices.modules') need('MODULES');
  take(';');
  if (token.text !== '') throw unexpected(token, 'the end');
  return { from };
}

function unexpected({ text, position }: Token, wanted: string): Refusal {
  const found = text === '' ? 'ends' : `has ${JSON.stringify(text.slice(0, longestName))}`;
  return new Refusal(
    'com.microsoft:argument-error',
    `The query ${found} at character ${position}, where ${wanted} is expected. This hub knows SELECT * FROM devices, or devices.modules.`,
  );
}
