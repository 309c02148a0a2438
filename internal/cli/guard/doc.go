// Package guard has the commands of `hookctl guard`: what an operator pins.
package guard
