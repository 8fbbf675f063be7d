/**
 * What CI proves beside the tests: `npm run prove -- image`, `-- smoke`, `-- versions`.
 */
const proofs: Readonly<Record<string, () => Promise<unknown>>> = {
  image: () => import('./prove-image.ts'),
  smoke: () => import('./smoke.ts'),
  versions: () => import('./mixed-versions.ts'),
};

const usage = `Usage: npm run prove -- image [service] [edge] [hub]
       npm run prove -- smoke|versions

  image     builds all images with buildah, or follows their Dockerfiles,
            and has the results serve the sandbox, isolated as in a container;
            with names, those images
  smoke     runs a small set of tests with the Node.js of the images
  versions  has this build and that of the last release in .ci/releases share
            partitions, in a rolling update and back
`;

const [, , name = ''] = process.argv;
const prove = Object.hasOwn(proofs, name) ? proofs[name] : undefined;
if (prove !== undefined) await prove();
else {
  const isHelp = name === '--help';
  process[isHelp ? 'stdout' : 'stderr'].write(isHelp ? usage : `There is no proof called "${name}".\n\n${usage}`);
  process.exitCode = isHelp ? 0 : 1;
}
