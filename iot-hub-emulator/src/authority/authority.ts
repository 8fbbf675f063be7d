import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { createServer as createHttps } from 'node:https';
import { readBody } from '../http/body.ts';
import { type Answer, createHttpServer, listenHttp } from '../http/httpServer.ts';
import { splitUrl } from '../http/routes.ts';
import { ensureCertificates } from '../identity/certificates.ts';
import { claimsIn, createTokenSigner } from '../identity/tokens.ts';
import { listenWith } from '../network/listener.ts';

/** A program that can get tokens. */
export interface Principal {
  /** That it names itself by; a UUID. */
  readonly clientId: string;
  /** That roles are given to; a UUID. */
  readonly objectId: string;
  /** The token of a file that the authority exchanges for its own (workload identity federation); none when absent. */
  readonly federatedToken?: string;
}

export interface AuthorityOptions {
  /** Where the certificate authority is kept; that of a hub serves both. */
  readonly directory: string;
  /** The first one is also the identity that the platform itself gives a machine. */
  readonly principals: readonly Principal[];
  /** Resources that tokens are given for; others are refused. */
  readonly resources?: readonly string[];
  /** How long tokens live, in seconds; default an hour. */
  readonly lifeSeconds?: number;
  /** The time in milliseconds since 1970. */
  readonly now?: () => number;
}

/** A request for a token, and whether there was one. */
export interface TokenRequest {
  readonly by: 'federation' | 'machine' | 'app service';
  readonly clientId: string | undefined;
  readonly resource: string;
  readonly granted: boolean;
}

/** A stand-in for the platform's token endpoints. */
export interface Authority {
  /** Host of the authority, with TLS; for programs with a file of a federated token. */
  readonly url: string;
  readonly tenantId: string;
  /** PEM file that clients must trust. */
  readonly caFile: string;
  /** Variables that the platform gives a program with a managed identity: of a virtual machine, or of an app service. */
  readonly machine: Readonly<Record<string, string>>;
  readonly appService: Readonly<Record<string, string>>;
  /** What a hub needs to check the tokens. */
  readonly trust: { readonly issuer: string; readonly publicKey: string };
  readonly requests: readonly TokenRequest[];
  /** From now on, tokens live for this long. */
  setLife(seconds: number): void;
  /** From now on, a file of a federated token is good only with this text. */
  setFederatedToken(clientId: string, token: string): void;
  /** A token as the endpoints give it, for a resource that they may not know. */
  issue(objectId: string, resource: string, seconds?: number): string;
  /** Whether a token is one of its own for this resource, at its time: what a backend checks. */
  accepts(token: string, resource: string): boolean;
  close(): Promise<void>;
}

const usualResources = ['https://iothubs.azure.net', 'https://eventhubs.azure.net', 'https://storage.azure.com'];
const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
const maxBody = 64 * 1024;

/** Starts token endpoints on the loopback interface: of the authority with TLS, of the platform without. */
export async function startAuthority(options: AuthorityOptions): Promise<Authority> {
  const { directory, principals, resources = usualResources, now = Date.now } = options;
  const certificates = await ensureCertificates(directory);
  const signer = createTokenSigner();
  const tenantId = randomUUID();
  const header = randomUUID();
  const issuer = `https://sts.windows.net/${tenantId}/`;
  const requests: TokenRequest[] = [];
  const federated = new Map(principals.map(({ clientId, federatedToken }) => [clientId, federatedToken]));
  let life = options.lifeSeconds ?? 3600;
  let url = '';

  const issue = (oid: string, aud: string, seconds = life): string => {
    const at = Math.floor(now() / 1000);
    return signer.sign({
      aud,
      iss: issuer,
      oid,
      sub: oid,
      tid: tenantId,
      ver: '1.0',
      iat: at,
      nbf: at,
      exp: at + seconds,
    });
  };

  /** Resources are the same with and without a slash at the end; the token has what was asked for. */
  const isKnown = (resource: string): boolean => resources.includes(resource.replace(/\/+$/, ''));

  function answerWith(asked: Omit<TokenRequest, 'granted'>, principal: Principal | undefined): Answer {
    const granted = principal !== undefined && isKnown(asked.resource);
    requests.push({ ...asked, granted });
    if (principal === undefined) return refusal(401, 'invalid_client', 'AADSTS700213: No matching federated identity.');
    if (!granted) return refusal(400, 'invalid_resource', 'AADSTS500011: The resource principal was not found.');
    const access_token = issue(principal.objectId, asked.resource);
    const expires_on = String(Math.floor(now() / 1000) + life);
    return json(200, { token_type: 'Bearer', access_token, expires_in: life, expires_on, resource: asked.resource });
  }

  async function ofAuthority(request: IncomingMessage): Promise<Answer> {
    const { path } = splitUrl(request.url ?? '');
    if (path === `/${tenantId}/v2.0/.well-known/openid-configuration`) {
      const base = `${url}/${tenantId}`;
      return json(200, {
        issuer: `${base}/v2.0`,
        authorization_endpoint: `${base}/oauth2/v2.0/authorize`,
        token_endpoint: `${base}/oauth2/v2.0/token`,
        jwks_uri: `${base}/discovery/v2.0/keys`,
      });
    }
    if (path !== `/${tenantId}/oauth2/v2.0/token` || request.method !== 'POST')
      return refusal(400, 'invalid_request', 'AADSTS90002: Tenant not found.');
    const body = await readBody(request, maxBody, () => new Error('The body is too large.'));
    const form = new URLSearchParams(body.toString());
    const clientId = form.get('client_id') ?? undefined;
    const scope =
      form
        .get('scope')
        ?.split(' ')
        .find((each) => each.endsWith('/.default')) ?? '';
    const isExchange = form.get('client_assertion_type') === assertionType;
    const expected = federated.get(clientId ?? '');
    const isProven = isExchange && expected !== undefined && form.get('client_assertion') === expected;
    const asked = { by: 'federation', clientId, resource: scope.slice(0, -'/.default'.length) } as const;
    return answerWith(asked, isProven ? principals.find((each) => each.clientId === clientId) : undefined);
  }

  async function ofPlatform(request: IncomingMessage): Promise<Answer> {
    const { path: full, query } = splitUrl(request.url ?? '');
    const path = full.replace(/\/$/, '');
    const asked = new URLSearchParams(query);
    const clientId = asked.get('client_id') ?? undefined;
    const resource = asked.get('resource') ?? '';
    const principal = clientId === undefined ? principals[0] : principals.find((each) => each.clientId === clientId);
    if (path === '/metadata/identity/oauth2/token' && request.headers['metadata'] === 'true')
      return answerWith({ by: 'machine', clientId, resource }, principal);
    if (path === '/msi/token' && request.headers['x-identity-header'] === header)
      return answerWith({ by: 'app service', clientId, resource }, principal);
    return refusal(400, 'invalid_request', 'Required metadata header not specified.');
  }

  const explain = () => refusal(500, 'server_error', 'The authority failed.');
  const serving = (serve: (request: IncomingMessage) => Promise<Answer>) =>
    createHttpServer({ keepAliveMs: 5_000, serve, explain });
  const inner = serving(ofAuthority);
  const secure = createHttps({ key: certificates.key, cert: certificates.cert }, (request, response) =>
    inner.emit('request', request, response),
  );
  const listener = await listenWith(secure, { port: 0 });
  url = `https://localhost:${listener.port}`;
  const platform = await listenHttp(serving(ofPlatform), 0);

  return {
    url,
    tenantId,
    caFile: certificates.caFile,
    machine: { AZURE_POD_IDENTITY_AUTHORITY_HOST: platform.url },
    appService: { IDENTITY_ENDPOINT: `${platform.url}/msi/token`, IDENTITY_HEADER: header },
    trust: { issuer, publicKey: signer.publicKey },
    requests,
    setLife(seconds) {
      life = seconds;
    },
    setFederatedToken: (clientId, token) => void federated.set(clientId, token),
    issue,
    accepts(token, resource) {
      const claims = claimsIn(token, signer.publicKey);
      return claims?.aud === resource && claims.nbf * 1000 <= now() && now() < claims.exp * 1000;
    },
    async close() {
      secure.closeAllConnections();
      await Promise.all([listener.close(), platform.close()]);
    },
  };
}

const json = (status: number, body: object): Answer => ({ status, body: JSON.stringify(body) });
const refusal = (status: number, error: string, error_description: string): Answer =>
  json(status, { error, error_description, error_codes: [], correlation_id: randomUUID() });
