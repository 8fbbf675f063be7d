import { currentOf, renewed, type Secret } from '../identity/rotatingSecret.ts';
import type { BackendState } from './state.ts';

/** The token endpoint gives none. This says nothing about the backends. */
export class NoAccessToken extends Error {
  override readonly name = 'NoAccessToken';
}

/** The source of the bearer tokens for backend calls. */
export interface TokenSource {
  /**
   * The current token; a promise only while there is none.
   * @throws NoAccessToken
   */
  token(): string | Promise<string>;
  /**
   * A token to replace one that a backend refused. It may be the same token.
   * @throws NoAccessToken
   */
  renew(refused: string): Promise<string>;
  /** There is no token, and the endpoint gives none: calls wait (D317). */
  isOut(): boolean;
  /** Undefined unless it is out. Otherwise resolves with true when there is a token, or with false when the service stops. */
  untilBack(): Promise<boolean> | undefined;
  /** Of the endpoint, for operators; undefined when there is none. */
  state(): BackendState | undefined;
  close(): Promise<void>;
}

/** A token of the settings. It changes only with its file (D397). */
export const staticToken = (token: Secret): TokenSource => ({
  token: () => currentOf(token),
  renew: (refused) => renewed(token, refused),
  isOut: () => false,
  untilBack: () => undefined,
  state: () => undefined,
  close: async () => {},
});
