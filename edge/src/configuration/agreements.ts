import type { Module } from './moduleSchema.ts';
import type { Written } from './schema.ts';

/** What must hold between values, each as a problem with its place (M10). */
export const disagreements = (written: Written): string[] => [
  ...exactlyOne(written),
  ...pairs(written),
  ...repeated(written.modules, 'id', ({ id }) => [[id, 'id']]),
  ...repeated(written.modules, 'object id', objectIds),
  ...repeated(written.modules, 'target', ({ gateway }) => at(gateway?.targets ?? [], 'gateway.targets')),
  ...repeated(written.modules, 'folder', ({ files }) =>
    files ? [[files.folder.replace(/\/+$/, ''), 'files.folder']] : [],
  ),
  ...overlappingTopics(written.modules),
  ...idle(written.modules),
];

type Found = readonly [value: string, place: string];

const at = (values: readonly string[], place: string): Found[] =>
  values.map((value, index) => [value, `${place}[${index}]`]);

const objectIds = ({ objectIds: own, gateway }: Module): Found[] =>
  [...at(own, 'objectIds'), ...at(gateway?.objectIds ?? [], 'gateway.objectIds')].map(([id, place]) => [
    id.toLowerCase(),
    place,
  ]);

function exactlyOne({ hub, broker }: Written): string[] {
  const one = 'one of connectionString and connectionStringFile is needed, and only one';
  return [
    ...((hub.connectionString === undefined) === (hub.connectionStringFile === undefined) ? [`hub: ${one}`] : []),
    ...(broker.password !== undefined && broker.passwordFile !== undefined
      ? ['broker: only one of password and passwordFile can be given']
      : []),
  ];
}

function pairs({ broker, limits }: Written): string[] {
  const hasPassword = broker.password !== undefined || broker.passwordFile !== undefined;
  return [
    ...(hasPassword && broker.username === undefined ? ['broker.username: is needed with a password'] : []),
    ...((broker.certificateFile === undefined) === (broker.keyFile === undefined)
      ? []
      : ['broker: certificateFile and keyFile are needed together']),
    ...(limits.inFlightPerModule > limits.inFlight
      ? ['limits.inFlightPerModule: must not be more than limits.inFlight']
      : []),
  ];
}

function repeated(modules: readonly Module[], what: string, valuesOf: (module: Module) => readonly Found[]): string[] {
  const places = new Map<string, string>();
  const problems: string[] = [];
  for (const [index, module] of modules.entries()) {
    for (const [value, where] of valuesOf(module)) {
      const place = `modules[${index}].${where}`;
      const before = places.get(value);
      if (before === undefined) places.set(value, place);
      else problems.push(`${place}: the ${what} ${JSON.stringify(value)} is also ${before}`);
    }
  }
  return problems;
}

/** A topic that is another one, or lies below it, would mix up what comes in and goes out. */
function overlappingTopics(modules: readonly Module[]): string[] {
  const topics = modules.flatMap(({ topics_methods_in, topics_methods_out }, index) => [
    { topic: topics_methods_in, place: `modules[${index}].topics_methods_in` },
    { topic: topics_methods_out, place: `modules[${index}].topics_methods_out` },
  ]);
  const places = new Map<string, string>();
  const problems: string[] = [];
  // In the order of their length, so that those above come first.
  for (const { topic, place } of topics.toSorted((a, b) => a.topic.length - b.topic.length)) {
    const above = prefixesOf(topic).find((prefix) => places.has(prefix));
    if (above !== undefined) {
      const relation = above === topic ? 'is the same as' : 'lies below';
      problems.push(`${place}: the topic ${relation} ${places.get(above)}`);
    }
    if (!places.has(topic)) places.set(topic, place);
  }
  return problems;
}

const prefixesOf = (topic: string): string[] => {
  const segments = topic.split('/');
  return segments.map((_, index) => segments.slice(0, index + 1).join('/'));
};

const idle = (modules: readonly Module[]): string[] =>
  modules.flatMap(({ objectIds: own, gateway }, index) =>
    own.length + (gateway?.objectIds.length ?? 0) + (gateway?.targets.length ?? 0) === 0
      ? [`modules[${index}]: no invocation could reach it: it has no objectIds and serves nothing as a gateway`]
      : [],
  );
