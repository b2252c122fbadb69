const prefix = 'instances/'

/** Returns the instance whose checkpoint has the key; undefined if the key is of no instance. */
export function instanceOf(key: string): { manager: string; key: string } | undefined {
  if (!key.startsWith(prefix)) return undefined
  const rest = key.slice(prefix.length)
  const slash = rest.indexOf('/')
  if (slash <= 0 || slash === rest.length - 1) return undefined
  try {
    return { manager: decodeURIComponent(rest.slice(0, slash)), key: rest.slice(slash + 1) }
  } catch {
    return undefined // no manager's name is escaped like this
  }
}

/** Returns what the keys of a manager's checkpoints begin with. Nodes escape its name as Go escapes a segment of a path. */
export const storedPrefix = (manager: string): string =>
  `${prefix}${encodeURIComponent(manager).replace(/%(40|3A|3D|26|2B|24)/g, decodeURIComponent).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)}/`
