import { expect, it } from 'vitest';
import { junitReport, resultText } from '../../backend-kit/report.ts';
import { rules } from '../../backend-kit/rules/index.ts';
import { runKit } from '../../backend-kit/run.ts';
import { startBackends } from '../../sandbox/backends/backends.ts';
import { givenBy, notHolding, runWith } from './faulty.ts';

async function withReference<T>(run: (given: Awaited<ReturnType<typeof givenBy>>) => Promise<T>): Promise<T> {
  const backends = await startBackends({ seed: true });
  try {
    const { given, token } = await givenBy(backends);
    const { informationModelUrl, typeRegistryUrl, principalManagerUrl } = backends;
    const urls = { 'information-model': informationModelUrl, 'type-registry': typeRegistryUrl };
    return await run({ token, given: { ...given, ...urls, 'principal-manager': principalManagerUrl } });
  } finally {
    await backends.close();
  }
}

it('The reference backends hold each rule', async () => {
  const outcome = await withReference(({ given, token }) => runKit({ given, token }));
  expect([outcome.results.length, notHolding(outcome)]).toEqual([rules.length, []]);
});

it('Rules have ids of their own, and end their sentences', () => {
  expect(new Set(rules.map(({ id }) => id)).size).toBe(rules.length);
  expect(rules.filter(({ says, otherwise }) => !/[.]$/.test(says) || !/[.]$/.test(otherwise))).toEqual([]);
});

it('Rules that need what is not given are not tried, and say which option that is', async () => {
  const given = { device: 'gateway-1' };
  const outcome = await withReference(({ given: all, token }) =>
    runKit({ token, given: { ...given, 'type-registry': all['type-registry' as keyof typeof all] } }),
  );
  const reasons = new Set(outcome.results.flatMap(({ outcome: what, why }) => (what === 'not tried' ? [why] : [])));
  const options = ['other-device', 'other-tenant-device', 'expendable-identity', 'unclaimed-object', 'caller-token'];
  const absent = [...options, 'reader-token', 'information-model', 'principal-manager'];
  expect([...reasons].sort()).toEqual(absent.map((name) => `it needs --${name}`).sort());
});

it('What is printed and reported covers tokens, and a rule that is a must is a failure of JUnit', async () => {
  const outcome = await runWith({
    answer(reply, { headers }) {
      reply.status = 500;
      reply.body = JSON.stringify({ seen: headers['authorization'] });
    },
  });
  const texts = [...outcome.results.map(resultText), junitReport(outcome)].join('\n');
  expect(texts).toContain('authorization: Bearer …');
  expect(texts.match(/Bearer [\w.-]{20,}/)).toBeNull();
  expect(texts).toMatch(/<failure message="GET [^"]*500/);
});
