import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

/** Where the version of the project stands. All parts have the same. */
const manifests = ['package.json', 'edge/package.json', 'iot-hub-emulator/package.json', 'telemetry/package.json'];
const ownPackages = ['@device-messaging/telemetry', 'iot-hub-emulator'];
const overlays = 'deploy/kubernetes/overlays';
/** All that an expression finds in a file is the version. */
const places: readonly (readonly [file: string, found: RegExp])[] = [
  ...['Dockerfile', 'edge/Dockerfile', 'iot-hub-emulator/Dockerfile'].map(
    (file) => [file, /(?<=^LABEL org\.opencontainers\.image\.version=).*$/gm] as const,
  ),
  ['deploy/helm/Chart.yaml', /(?<=^(?:version|appVersion): ).*$/gm],
  ['deploy/helm/values.yaml', /(?<=^ {2}tag: ).*$/gm],
  ...readdirSync(overlays).map((name) => [`${overlays}/${name}/kustomization.yaml`, /(?<= newTag: )\S+/g] as const),
];

/** A file, and what it would be with another version. */
type Versioned = Readonly<{ file: string; text: string; next: string }>;

export const otherVersions = (version: string): readonly string[] =>
  versioned(version).flatMap(({ file, text, next }) => (text === next ? [] : [file]));

export function setVersion(version: string): void {
  for (const { file, text, next } of versioned(version)) if (text !== next) writeFileSync(file, next);
}

function versioned(version: string): Versioned[] {
  const lock = change('package-lock.json', (text) => {
    const parsed = JSON.parse(text);
    parsed.version = version;
    for (const folder of ['', ...manifests.slice(1).map((file) => file.replace('/package.json', ''))])
      withVersion(parsed.packages[folder], version);
    return parsed;
  });
  const packages = manifests.map((file) => change(file, (text) => withVersion(JSON.parse(text), version)));
  const others = places.map(([file, found]) => {
    const text = readFileSync(file, 'utf8');
    return { file, text, next: text.replace(found, version) };
  });
  return [...packages, lock, ...others];
}

function change(file: string, next: (text: string) => object): Versioned {
  const text = readFileSync(file, 'utf8');
  return { file, text, next: `${JSON.stringify(next(text), null, 2)}\n` };
}

function withVersion(manifest: Record<string, unknown>, version: string): object {
  manifest['version'] = version;
  for (const group of ['dependencies', 'devDependencies']) {
    const wanted = manifest[group] as Record<string, string> | undefined;
    for (const name of ownPackages) if (wanted?.[name] !== undefined) wanted[name] = version;
  }
  return manifest;
}
