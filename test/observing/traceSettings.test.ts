import { describe, expect, it } from 'vitest';
import { traceSettings } from '../../src/observing/traces.ts';

const address = 'http://collector:4318';
const on = { OTEL_TRACES_EXPORTER: 'otlp', OTEL_EXPORTER_OTLP_ENDPOINT: address };

describe('traces are off', () => {
  it.each([
    ['by default', {}],
    ['with the general address alone, which metrics use, too', { OTEL_EXPORTER_OTLP_ENDPOINT: address }],
    ['with OTEL_TRACES_EXPORTER=none', { ...on, OTEL_TRACES_EXPORTER: 'none' }],
    [
      'with OTEL_TRACES_EXPORTER=none and an address of their own',
      { OTEL_TRACES_EXPORTER: 'none', OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: address },
    ],
    ['with OTEL_SDK_DISABLED', { ...on, OTEL_SDK_DISABLED: 'TRUE' }],
    ['with empty variables', { OTEL_TRACES_EXPORTER: '', OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: ' ' }],
  ])('%s', (_, env) => expect(traceSettings(env)).toEqual({ collector: undefined, ignored: [] }));

  it.each([
    ['OTEL_TRACES_EXPORTER', { ...on, OTEL_TRACES_EXPORTER: 'zipkin' }],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', { ...on, OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' }],
    ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', { ...on, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://[' }],
    ['OTEL_EXPORTER_OTLP_PROTOCOL', { ...on, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }],
  ])('with an unsupported value of %s, which is logged', (variable, env) => {
    const { collector, ignored } = traceSettings(env);
    expect([collector, ignored.map((one) => one.variable)]).toEqual([undefined, [variable]]);
  });
});

describe('traces are on', () => {
  it.each([
    ['with OTEL_TRACES_EXPORTER=otlp', { OTEL_TRACES_EXPORTER: 'otlp' }, 'http://localhost:4318/v1/traces'],
    ['at the general address, and the path of traces', on, `${address}/v1/traces`],
    ['at one with a path', { ...on, OTEL_EXPORTER_OTLP_ENDPOINT: `${address}/otlp/` }, `${address}/otlp/v1/traces`],
    ['with an address of their own', { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${address}/in` }, `${address}/in`],
    ['which wins', { ...on, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://other/in' }, 'https://other/in'],
  ])('%s', (_, env, url) => expect(traceSettings(env)).toEqual({ collector: { url, ratio: 1 }, ignored: [] }));

  it('as JSON for any OTLP protocol over HTTP, which is logged', () => {
    const env = { ...on, OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/protobuf', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' };
    const { collector, ignored } = traceSettings(env);
    expect(collector?.url).toBe(`${address}/v1/traces`);
    expect(ignored).toEqual([{ variable: 'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', hint: 'spans are sent as http/json' }]);
  });

  it.each([
    ['always_on', undefined, 1],
    ['parentbased_always_on', undefined, 1],
    ['always_off', undefined, 0],
    ['parentbased_always_off', '1', 0],
    ['traceidratio', '0.25', 0.25],
    ['parentbased_traceidratio', '0', 0],
    ['traceidratio', undefined, 1],
  ])('for the share of messages of the sampler %s with %s', (name, argument, ratio) => {
    const env = { ...on, OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: argument };
    expect(traceSettings(env)).toEqual({ collector: { url: `${address}/v1/traces`, ratio }, ignored: [] });
  });

  it.each([
    ['OTEL_TRACES_SAMPLER', { ...on, OTEL_TRACES_SAMPLER: 'jaeger_remote' }],
    ['OTEL_TRACES_SAMPLER', { ...on, OTEL_TRACES_SAMPLER: 'toString' }],
    ['OTEL_TRACES_SAMPLER_ARG', { ...on, OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '25%' }],
    ['OTEL_TRACES_SAMPLER_ARG', { ...on, OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '2' }],
  ])('for all messages with an unknown value of %s, which is logged', (variable, env) => {
    const { collector, ignored } = traceSettings(env);
    expect([collector?.ratio, ignored.map((one) => one.variable)]).toEqual([1, [variable]]);
  });

  it('without values of variables in the log, since they may have a password', () => {
    const env = { ...on, OTEL_EXPORTER_OTLP_ENDPOINT: 'ftp://user:s3cret@collector' };
    expect(JSON.stringify(traceSettings(env).ignored)).not.toContain('s3cret');
  });
});
