import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { correlationForm, timeoutRange } from '../../src/methods/contract.ts';
import { guid, modelId } from '../../src/protocol/fields.ts';
import { effects, failures } from '../../src/protocol/vocabulary.ts';
import { codesIn, readPage, tableOf } from './markdown.ts';

const page = readPage('methods.md');

describe('docs/methods.md', () => {
  it('lists all failures with their statuses, whether the method has run, and when to repeat {S23.9}', () => {
    const listed = tableOf(page, 'reason').map((row) => [
      ...[codesIn(row['reason'] ?? '')[0], Number(row['status'])],
      ...[codesIn(row['`invoked`'] ?? '')[0], Number(row['`Retry-After`']) || undefined],
    ]);
    const all = Object.entries<{ status: number; invoked: string; retryAfter?: number }>(failures);
    expect(listed).toEqual(
      all.map(([reason, { status, invoked, retryAfter }]) => [reason, status, invoked, retryAfter]),
    );
  });
  it('names every field of the line of an invocation at the edge', () => {
    const log = readFileSync('edge/src/invocations/proxy.ts', 'utf8');
    const fields = [...log.matchAll(/^ {2}(\w+)\?:/gm)].map(([, name]) => name);
    expect(fields.length).toBeGreaterThan(9);
    const named = codesIn(page);
    const wanted = [...fields, 'methodStatus', 'status', 'reason', 'details'];
    expect(wanted.filter((field = '') => !named.includes(field))).toEqual([]);
  });
});

describe('docs/contracts/methods.openapi.yaml is enforced:', () => {
  const { paths, components } = parse(readFileSync('docs/contracts/methods.openapi.yaml', 'utf8'));
  const [operation, ofV1] = ['', '/v1'].map((v) => paths[`${v}/objects/{objectId}/models/{model}/methods/{method}`]);
  const entries = Object.entries(failures);

  it('every status with its reasons and their titles, the same for both paths {S23.3}', () => {
    const { 200: replied, ...responses } = operation.post.responses;
    const statuses = [...new Set(entries.map(([, { status }]) => status))];
    expect([replied.description, Object.keys(responses)]).toEqual([expect.any(String), statuses.map(String).sort()]);
    for (const status of statuses) {
      const reasons = entries.filter(([, failure]) => failure.status === status);
      const said = reasons.map(([reason, { title }]) => `\`${reason}\` (${title})`).join(', ');
      expect(responses[status].description).toBe(`Reasons: ${said}.`);
    }
    expect(ofV1.parameters).toEqual(operation.parameters);
    const { operationId, summary } = ofV1.post;
    expect(ofV1.post).toEqual({ ...operation.post, operationId, summary });
  });
  it('the reasons and effects of its errors', () => {
    const { reason, invoked } = components.schemas.Errors.properties.errors.items.properties.meta.properties;
    expect([reason.enum, invoked.enum]).toEqual([Object.keys(failures), effects]);
  });
  it('the forms of the path, the default time-out, the form of correlation ids', () => {
    const [objectId, model, method] = operation.parameters.map(({ schema }: { schema: object }) => schema);
    const forms = [guid, modelId].map((schema) => z.toJSONSchema(schema));
    expect([objectId, model]).toEqual(forms.map(({ $schema: _, ...form }) => form));
    expect(method).toEqual({ type: 'string', minLength: 1, maxLength: 256 });
    const { description, minimum, maximum } = components.schemas.Invocation.properties.timeout;
    expect(description).toContain(`default ${timeoutRange.default}.`);
    expect(timeoutRange).toMatchObject({ min: minimum, max: maximum });
    const { id } = components.schemas.Errors.properties.errors.items.properties;
    expect([id.pattern, components.headers['X-Correlation-Id'].schema.pattern]).toEqual(
      Array(2).fill(correlationForm.source),
    );
  });
});
