const urls = new WeakMap<object, string>();

/** Remembers the module that a plugin was loaded from, so that workers can load it as well. */
export function rememberModule(plugin: object, url: string): void {
  urls.set(plugin, url);
}

/** The URL of the module that a plugin was loaded from; undefined for built-in and registered plugins. */
export function moduleUrlOf(plugin: object): string | undefined {
  return urls.get(plugin);
}
