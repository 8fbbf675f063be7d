/** The ways to deploy, each of which somebody applies as it is. */
export const overlays = [
  'deploy/kubernetes/overlays/front-door',
  'deploy/kubernetes/overlays/with-identity',
  'deploy/kubernetes/overlays/with-keys',
] as const;
