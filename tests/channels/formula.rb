# Reads a formula as Homebrew would on one machine, `ruby formula.rb FORMULA macos|linux arm|intel`, and prints what it says as JSON.
require "json"

FORMULA, SYSTEM, PROCESSOR = ARGV

class Formula
  SAID = {}

  class << self
    %i[desc homepage version license url sha256].each do |word|
      define_method(word) { |value| SAID[word] = value }
    end

    { on_macos: "macos", on_linux: "linux", on_arm: "arm", on_intel: "intel" }.each do |word, name|
      define_method(word) { |&said| said.call if [SYSTEM, PROCESSOR].include?(name) }
    end

    def test(&said)
      SAID[:tested] = !said.nil?
    end
  end
end

load FORMULA
formula = Hashline.new
# Where `install` of the formula puts the programs.
bin = Object.new
bin.define_singleton_method(:install) { |*files| Formula::SAID[:installed] = files }
formula.define_singleton_method(:bin) { bin }
formula.install
puts JSON.generate(Formula::SAID)
