import type { Fault } from './faults.ts';
import { inFile } from './inFile.ts';

const settings = ['test/settings/config.test.ts'];

/** In how an identity gets in instead of a key. */
export const identityFaults: readonly Fault[] = [
  ...inFile(
    'src/settings/agreements.ts',
    settings,
    {
      fault: 'reads an event hub to which anybody may send',
      find: "...(eventsSenders === ''",
      replace: "...(eventsSenders === 'nobody'",
      caughtBy: 'an event hub without a word on who may send is refused',
    },
    {
      fault: 'lets a key stand beside the identity for the same thing',
      find: "if (serviceConnectionString !== '' && hostName !== '')",
      replace: 'if (false)',
      caughtBy: 'replies by both is refused',
    },
  ),
  ...inFile('src/identity/identity.ts', ['test/identity/identity.test.ts'], {
    fault: 'gives a token to the end, which the event client would renew without a pause',
    find: 'current.ends - performance.now() > lastMs',
    replace: 'current.ends > performance.now()',
    caughtBy: 'serves until three minutes before its end',
  }),
  ...inFile('src/hub/replies/identityClient.ts', ['test/hub/identityClient.test.ts'], {
    fault: 'puts the scope of the public cloud for the audience',
    find: 'tokenScope: credential.scope, ',
    replace: '',
    caughtBy: 'puts the scope of the settings for the audience',
  }),
  ...inFile('src/backends/backendOpener.ts', ['test/backends/identityTokens.test.ts'], {
    fault: 'calls all backends with the token of the first',
    find: 'const known = sources.get(credential);',
    replace: 'const [known] = sources.values();',
    caughtBy: 'each backend gets the token of its own scope',
  }),
  ...inFile(
    'iot-hub-emulator/src/identity/bearer.ts',
    ['iot-hub-emulator/test/identity.test.ts'],
    {
      fault: 'believes a token for another resource',
      find: "if (claims.aud.replace(/\\/+$/, '') !== expected)",
      replace: 'if (false)',
      caughtBy: 'for another resource is refused',
    },
    {
      fault: 'believes a token that has expired',
      find: ' || claims.exp * 1000 <= now',
      replace: '',
      caughtBy: 'that has expired is refused',
    },
  ),
];
