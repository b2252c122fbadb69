// The places of the pages in the sidebar.
const page = (text, name) => ({ text, link: '/docs/' + name })

export const navigation = [
  { text: 'Begin', items: [page('Quick start', 'quickstart'), page('Concepts', 'concepts'), page('Design', 'design'), page('Glossary', 'glossary'), page('Semantics', 'semantics')] },
  {
    text: 'Build agents',
    items: [
      page('HTTP', 'http'), page('HTTP: rules', 'http-reference'), page('Libraries', 'sdks'), page('Adapters for Go', 'adapters-go'), page('Adapters for JavaScript', 'adapters-js'), page('Workflow', 'world'),
      page('MCP', 'mcp'), page('Redis protocol', 'redis'), page('Turns', 'turns'), page('Instances', 'instances'), page('Handlers', 'handlers'), page('Pods', 'pods'), page('Embedding', 'embedding'),
    ],
  },
  {
    text: 'Run a cluster',
    items: [
      page('Operations', 'operations'), page('Deployment', 'deployment'), page('Sizing', 'sizing'), page('Observability', 'observability'), page('Console', 'console'), page('Backups', 'backups'), page('Recovery', 'recovery'),
      page('Losing a majority', 'lost-majority'), page('Settings', 'settings'), page('Limits', 'limits'), page('Tenants', 'tenants'),
    ],
  },
  { text: 'Secure it', items: [page('Security', 'security'), page('Identities', 'identities'), page('Keys', 'keys'), page('Audit log', 'audit')] },
  {
    text: 'Look inside',
    items: [
      { text: 'Architecture', link: '/ARCHITECTURE' }, page('Performance', 'performance'), page('Figures', 'performance-figures'), page('Experiments', 'performance-experiments'),
      { text: 'Fault tests', link: '/jepsen/README' }, page('Simulation', 'simulation'), page('Proof', 'harness-proof'), page('Runs', 'harness-runs'), page('Hazards', 'hazards'), page('Known issues', 'known'), page('Contributing', 'contributing'), page('Progress', 'progress'), page('Findings', 'findings'),
    ],
  },
]
