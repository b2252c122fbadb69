// The test suite of the Workflow SDK for worlds, whole and unmodified, through a node that does not lead.
import { createTestSuite } from '@workflow/world-testing'

process.env.DORMOUSE_URLS = process.env.DORMOUSE_FOLLOWER
createTestSuite('./dist/index.js')
