// Package manager applies the ops on the managers of instances, and answers the reads of them. A
// manager holds the settings of the instances of one kind.
package manager
