// Draws pages of the HTTP reference from an OpenAPI document: one for each tag.

// httpReference returns the pages, each with a name, a title and Markdown text.
export function httpReference(document) {
  const byTag = new Map()
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const tag = operation.tags?.[0] ?? 'other'
      if (!byTag.has(tag)) byTag.set(tag, [])
      byTag.get(tag).push({ path, method: method.toUpperCase(), ...operation })
    }
  }
  const about = new Map((document.tags ?? []).map((tag) => [tag.name, tag.description]))
  return [...byTag].sort().map(([tag, operations]) => ({
    name: tag.replaceAll(/[^a-z0-9]+/gi, '-'),
    title: tag[0].toUpperCase() + tag.slice(1),
    text: [`# ${tag[0].toUpperCase() + tag.slice(1)}`, about.get(tag) ?? '', ...operations.map((operation) => drawn(document, operation))].join('\n\n') + '\n',
  }))
}

function drawn(document, operation) {
  const resolve = (it) => (it?.$ref ? it.$ref.split('/').slice(1).reduce((at, key) => at[key.replaceAll('~1', '/').replaceAll('~0', '~')], document) : it)
  const parts = [`## ${escaped(operation.summary ?? operation.operationId)} {#${operation.operationId}}`, `\`\`\`http\n${operation.method} ${operation.path}\n\`\`\``]
  if (operation.description) parts.push(escaped(operation.description))
  const parameters = (operation.parameters ?? []).map(resolve)
  if (parameters.length > 0) {
    parts.push(table(['parameter', 'in', 'type', ''], parameters.map((p) => [`\`${p.name}\`${p.required ? ' (required)' : ''}`, p.in, typeOf(p.schema, resolve), p.description ?? ''])))
  }
  const request = media(resolve(operation.requestBody))
  if (request) parts.push(`**Body** (\`${request.type}\`)`, members(request.schema, resolve))
  for (const [status, raw] of Object.entries(operation.responses)) {
    const response = resolve(raw)
    if (!/^2/.test(status)) continue
    const answer = media(response)
    parts.push(`**${status}** ${escaped(response.description ?? '')}${answer ? ` (\`${answer.type}\`)` : ''}`)
    if (answer) {
      parts.push(members(answer.schema, resolve))
      const example = answer.example ?? Object.values(answer.examples ?? {})[0]?.value
      if (example !== undefined) parts.push('```json\n' + JSON.stringify(example, null, 2) + '\n```')
    }
  }
  const errors = Object.keys(operation.responses).filter((status) => /^[45]/.test(status))
  if (errors.length > 0) parts.push(`Errors: ${errors.join(', ')}, as [problems](/docs/http-reference).`)
  return parts.filter(Boolean).join('\n\n')
}

function media(body) {
  const [type, content] = Object.entries(body?.content ?? {})[0] ?? []
  return type && { type, ...content }
}

function members(schema, resolve) {
  const whole = resolve(schema)
  const list = Object.entries(whole?.properties ?? {})
  if (list.length === 0) return ''
  const required = new Set(whole.required ?? [])
  return table(['member', 'type', ''], list.map(([name, member]) => {
    const at = resolve(member)
    return [`\`${name}\`${required.has(name) ? '' : '?'}`, typeOf(member, resolve), member.description ?? at?.description ?? '']
  }))
}

function typeOf(schema, resolve) {
  const at = resolve(schema) ?? {}
  if (at.enum) return at.enum.map((value) => `\`${value}\``).join(', ')
  if (at.oneOf || at.anyOf) return 'one of several'
  const type = Array.isArray(at.type) ? at.type.join(' or ') : (at.type ?? 'any')
  return type === 'array' ? `array of ${typeOf(at.items, resolve)}` : type
}

function table(head, rows) {
  const line = (cells) => '| ' + cells.map((cell) => escaped(String(cell)).replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ') + ' |'
  return [line(head), '|' + head.map(() => '---').join('|') + '|', ...rows.map(line)].join('\n')
}

// escaped keeps what looks like HTML or a template from being read as such.
function escaped(text) {
  return text.replaceAll('<', '&lt;').replaceAll('{{', '&#123;&#123;')
}
