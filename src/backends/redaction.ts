import { madeOf, type SecretList } from 'telemetry/secretList.ts';
import { coverSecrets, piecesOf, uncovered } from '../text/secretPieces.ts';
import { coverValues } from './bodyValues.ts';

/**
 * Removes from a backend's text what must not be passed on (result codes, G5): our secrets, and values of the request's
 * body.
 * @param token of the request
 * @param body of the request, JSON
 */
export type Redact = (words: string, token: string, body?: string) => string;

/** Longer texts are cut: 300 characters are shown, and what is taken out leaves a mark. */
const maxWords = 450;

/** @param secrets that a backend could know */
export function createRedaction(secrets: SecretList): Redact {
  const own = madeOf(secrets, piecesOf);
  /** Of the last call: the next one mostly has the same. */
  let ofCall = { token: '', pieces: piecesOf([]) };

  return (given, token, body = '') => {
    if (given === '') return '';
    const words = given.slice(0, maxWords);
    const covered = new Uint8Array(words.length);
    coverSecrets(words, own(), covered);
    if (token !== ofCall.token) ofCall = { token, pieces: piecesOf([token]) };
    coverSecrets(words, ofCall.pieces, covered);
    coverValues(words, body, covered);
    return uncovered(words, covered);
  };
}
