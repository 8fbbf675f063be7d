import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import type { Application } from '../routes/route.ts';

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

const HEADER = encode({ alg: 'HS256', typ: 'JWT' });

const claimsSchema = z.object({ sub: z.string(), tenant: z.string(), roles: z.array(z.string()), exp: z.number() });

/**
 * Issues tokens for applications, as an identity provider would, and verifies them: JSON web tokens under a key that is
 * created here and is gone when the process ends.
 */
export function createApplications(now: () => number = Date.now) {
  const key = randomBytes(32);
  const sign = (claims: string): Buffer => createHmac('sha256', key).update(`${HEADER}.${claims}`).digest();

  return {
    /** A token that lives `lifetimeSeconds` from now; one that is not positive makes an expired one. */
    issue({ name, tenant, mayInvoke }: Application, lifetimeSeconds: number): string {
      const iat = Math.floor(now() / 1000);
      const roles = mayInvoke ? ['objects.read', 'methods.invoke'] : ['objects.read'];
      const claims = encode({ iss: 'sandbox', sub: name, azp: name, tenant, roles, iat, exp: iat + lifetimeSeconds });
      return `${HEADER}.${claims}.${sign(claims).toString('base64url')}`;
    },
    /** The application of an `authorization` header; `undefined` when its token is not one of ours, or has expired. */
    read(authorization: string | undefined): Application | undefined {
      const token = /^bearer (\S+)$/i.exec(authorization ?? '')?.[1];
      const [header, claims = '', signature = '', ...rest] = token?.split('.') ?? [];
      if (header !== HEADER || rest.length > 0) return undefined;
      const expected = sign(claims);
      const given = Buffer.from(signature, 'base64url');
      if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
      const { sub, tenant, roles, exp } = claimsSchema.parse(JSON.parse(Buffer.from(claims, 'base64url').toString()));
      return exp * 1000 > now() ? { name: sub, tenant, mayInvoke: roles.includes('methods.invoke') } : undefined;
    },
  };
}

export type Applications = ReturnType<typeof createApplications>;
