import { readFileSync } from 'node:fs';
import tls from 'node:tls';

/** Ends what was begun; at the end of a block with `using`. */
export type Ending = (() => void) & Disposable;

type Create = typeof tls.createSecureContext;

/** Names of this machine, the only ones for which a hub's authority is believed (H16). */
const local: readonly unknown[] = ['localhost', '127.0.0.1', '::1'];

/** What is trusted now, once for each call, as PEM. */
const authorities = new Map<symbol, string>();

/** The function of the module in whose place ours is. */
let replaced: Create | undefined;

/**
 * Has this process believe the hub's authority from now on, in new TLS connections to this machine, so that unmodified clients
 * connect to it: Node.js reads `NODE_EXTRA_CA_CERTS` only when a process starts. A client that names authorities of its own
 * (`ca`) believes only these. The answer ends it.
 */
export function trustHub({ caFile }: { readonly caFile: string }): Ending {
  const one = Symbol(caFile);
  authorities.set(one, readFileSync(caFile, 'utf8'));
  replace();
  const end = (): void => {
    authorities.delete(one);
    if (authorities.size === 0) putBack();
  };
  return Object.assign(end, { [Symbol.dispose]: end });
}

/** Node.js and packages make the secure context of each connection with the function that the module has then. */
function replace(): void {
  if (replaced) return;
  replaced = tls.createSecureContext;
  Object.assign(tls, { createSecureContext: createTrusting });
}

/** What others have put in its place since stays. */
function putBack(): void {
  if (!replaced || tls.createSecureContext !== createTrusting) return;
  Object.assign(tls, { createSecureContext: replaced });
  replaced = undefined;
}

const createTrusting: Create = (options) => {
  const context = (replaced as Create)(options);
  if (options?.ca === undefined && isToThisMachine(options))
    for (const ca of new Set(authorities.values())) context.context.addCACert(ca);
  return context;
};

/** A client's options are those of its whole connection. */
const isToThisMachine = (options: object = {}): boolean =>
  ['host', 'servername'].some((name) => local.includes(Reflect.get(options, name)));
