// @ts-check
import { Contrib, Enums, Models, Serialize, Spec } from '@cyclonedx/cyclonedx-library';
import { PackageURL } from 'packageurl-js';
import parseLicence from 'spdx-expression-parse';
import { idOf } from './bundledPackages.js';

/** @import { BundledPackage } from './bundledPackages.js' */

const components = new Contrib.FromNodePackageJson.Builders.ComponentBuilder(
  new Contrib.FromNodePackageJson.Factories.ExternalReferenceFactory(),
  new Contrib.License.Factories.LicenseFactory(parseLicence),
);

/**
 * The bill of materials of a bundle, for scanners: CycloneDX 1.6 as JSON. The same for the same bundle, so without a time or
 * a serial number.
 * @param {Record<string, any>} manifest `package.json` of the program
 * @param {readonly BundledPackage[]} packages
 * @returns {string}
 */
export function billOfMaterials(manifest, packages) {
  const program = componentOf(manifest, Enums.ComponentType.Application);
  /** By name and version: npm may put a package into several folders. */
  const byId = new Map(packages.map((bundled) => [idOf(bundled), componentOf(bundled.manifest)]));
  const byFolder = new Map(packages.map((bundled) => [bundled.folder, byId.get(idOf(bundled))]));
  for (const { folder, integrity, dependencies } of packages) {
    const component = byFolder.get(folder);
    component?.hashes.set(...Contrib.FromNodePackageJson.Utils.parsePackageIntegrity(integrity));
    for (const used of dependencies) addDependency(component, byFolder.get(used));
  }
  for (const name of Object.keys(manifest['dependencies']))
    addDependency(program, byFolder.get(`node_modules/${name}`));
  const bom = new Models.Bom({
    metadata: new Models.Metadata({ component: program }),
    components: new Models.ComponentRepository(byId.values()),
  });
  const serializer = new Serialize.JsonSerializer(new Serialize.JSON.Normalize.Factory(Spec.Spec1dot6));
  return `${serializer.serialize(bom, { sortLists: true, space: 1 })}\n`;
}

/**
 * @param {Models.Component | undefined} component
 * @param {Models.Component | undefined} used
 */
function addDependency(component, used) {
  if (used) component?.dependencies.add(used.bomRef);
}

/**
 * @param {Record<string, any>} manifest
 * @param {Enums.ComponentType} type
 */
function componentOf(manifest, type = Enums.ComponentType.Library) {
  const component = components.makeComponent(/** @type {any} */ (manifest), type);
  if (component === undefined) throw new Error('a package.json without a name is no component');
  const { group, name, version } = component;
  component.externalReferences.clear(); // as packages write them, not all are addresses
  component.purl = new PackageURL('npm', group, name, version, undefined, undefined).toString();
  component.bomRef.value = component.purl;
  return component;
}
